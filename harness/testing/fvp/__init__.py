"""The program that a MockFvp runs: command line, terminals, boot chain, U-Boot, Linux, and the end.

Written from public descriptions of Arm's FVP_Corstone-1000-A320, above all meta-arm's recipes and launcher,
Zephyr's and Arm's board files, and logs in public reports.
"""
