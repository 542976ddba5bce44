"""The Linux that U-Boot boots: login, shell, the NPU's device, and programs that play a script."""

from __future__ import annotations

import pytest

from harness.testing import Script, Symptom

NORMAL = "host_terminal_0"
PROMPT = "root@corstone1000-a320-fvp:~# "
CARD = "board.msd_mmc_2.p_mmc_file"
CYCLES = "Ethos-U Linux delegate cycle counter: 1234\nIteration 1 of 3: 1.234560 ms\n"


class Shell:
    """A root shell on a console; calling it does a command."""

    def __init__(self, running):
        self.running = running

    def __call__(self, command):
        return self.running.do(command, PROMPT).replace("\r\n", "\n")


@pytest.fixture
def shell(run):
    """A function that boots Linux and logs in."""

    def log_in(*symptoms, **choices):
        running = run(*symptoms, countdown_seconds=0, boot_seconds=0, **choices)
        running.attach()
        running.expect(NORMAL, "EFI stub: Booting Linux Kernel...", "console=ttyAMA0", "login: ")
        running.type("root\r")
        running.expect(NORMAL, PROMPT)
        return Shell(running)

    return log_in


def test_the_kernel_says_what_it_always_says(run):
    running = run(countdown_seconds=0)
    running.attach()
    shown = running.expect(NORMAL, "login: ")
    assert "psci: failed to boot CPU1 (-95)" in shown
    assert "ARM FF-A: Notification setup failed -95, not enabled" in shown
    assert "Ethos-U NPU" not in shown


def test_only_root_may_log_in(run):
    running = run(countdown_seconds=0)
    running.attach()
    running.expect(NORMAL, "login: ")
    running.type("guest\r")
    running.expect(NORMAL, "Password: ")
    running.type("guest\r")
    running.expect(NORMAL, "Login incorrect", "login: ")


def test_the_npus_device_is_there(shell):
    do = shell()
    assert do("ls /dev/ethosu0") == "/dev/ethosu0\n"
    assert do("test -c /dev/ethosu0 && echo yes || echo no") == "yes\n"
    assert do("ls /dev/accel/accel0; echo $?").endswith("No such file or directory\n2\n")


def test_an_image_may_have_only_the_other_driver(shell):
    do = shell(devices=("/dev/accel/accel0",))
    assert do("ls /dev/accel/accel0") == "/dev/accel/accel0\n"
    assert do("test -e /dev/ethosu0; echo $?") == "1\n"


def test_commands_of_a_shell_do_what_they_do(shell):
    do = shell()
    assert do("x=2; for i in 1 2; do echo $((i * x)); done | tr '\\n' ,") == "2,4,"
    assert do("pwd") == "/root\n"
    assert do("false") == ""
    assert do("echo $?") == "1\n"
    assert do('echo END""MARK') == "ENDMARK\n"
    assert do("echo hidden > /dev/null; echo x > /tmp/x; cat '/tmp/x'") == "x\n"
    assert do("dmesg -n 1; stty -echo; uname -r") == "6.19.0\n"
    assert "not found" in do("reboot-the-host --now")


def test_quotes_that_are_left_open_do_not_hang_it(shell):
    do = shell()
    assert "nterminated" in do("echo 'open")
    assert do("echo next") == "next\n"


def test_the_hosts_programs_are_out_of_reach(shell):
    do = shell()
    for program in ("mknod", "shutdown", "python3", "ssh"):
        assert "not found" in do(f"{program} --version")


def test_a_card_can_be_mounted_and_read(shell, card):
    do = shell(parameters={CARD: card({"DATA.BIN": b"0123", "in/a.txt": b"text\n"}, partitioned=True)})
    assert do("ls /dev/mmcblk1*") == "/dev/mmcblk1\n/dev/mmcblk1p1\n"
    assert do("mount -t vfat -o ro /dev/mmcblk1p1 /mnt && ls /mnt") == "DATA.BIN\nin\n"
    assert do("cat /mnt/in/a.txt; base64 /mnt/DATA.BIN") == "text\nMDEyMw==\n"
    assert do("mount | tail -1") == "/dev/mmcblk1p1 on /mnt type vfat (rw,relatime)\n"
    assert do("umount /mnt; ls /mnt; mount | grep -c vfat") == "0\n"


def test_what_is_not_a_card_cannot_be_mounted(shell):
    do = shell()
    assert do("mount /dev/mmcblk1 /mnt; echo $?").endswith(
        "mounting /dev/mmcblk1 on /mnt failed: No such file or directory\n255\n"
    )


def test_a_program_on_a_card_plays_its_script(shell, card):
    script = Script(output=CYCLES, status=3, commands='printf result > "$2"; echo "$1" >&2')
    image = card({"runner": b"\x7fELF", "other": b"\x7fELF"})
    do = shell(parameters={CARD: image}, scripts={"runner": script})
    do("mount /dev/mmcblk1 /mnt")
    assert do("/mnt/runner --output_file /tmp/out; echo status $?") == f"--output_file\n{CYCLES}status 3\n"
    assert do("cat /tmp/out") == "result"
    assert do("/mnt/other; echo $?").endswith("126\n") or "rror" in do("/mnt/other")


def test_a_program_that_is_not_on_the_card_does_not_run(shell, card):
    do = shell(parameters={CARD: card({"other": b""})}, scripts={"runner": Script(output="no")})
    do("mount /dev/mmcblk1 /mnt")
    assert do("/mnt/runner; echo $?").endswith("not found\n127\n")


def test_a_program_may_be_cut_in_its_output(shell, card):
    image, scripts = card({"runner": b""}), {"runner": Script(CYCLES)}
    running = shell(Symptom.DIES_IN_RECORD, parameters={CARD: image}, scripts=scripts).running
    running.type("mount /dev/mmcblk1 /mnt && /mnt/runner\r")
    assert running.finish() == 1
    arrived = running.shown[NORMAL].decode().partition("\r\n")[2]
    assert CYCLES.replace("\n", "\r\n").startswith(arrived)
    assert 0 < len(arrived) < len(CYCLES)


@pytest.mark.parametrize("symptom", [Symptom.KERNEL_PANIC, Symptom.KERNEL_HANGS])
def test_the_kernel_may_never_reach_its_login(run, symptom):
    running = run(symptom, countdown_seconds=0)
    running.attach()
    running.expect(NORMAL, "EFI stub: Exiting boot services...\r\n")
    while running.read_consoles(0.2):
        pass
    assert running.silent_for(0.3)
    assert (b"Kernel panic - not syncing" in running.shown[NORMAL]) == (symptom is Symptom.KERNEL_PANIC)


def test_who_logs_out_can_log_in_again(shell):
    running = shell().running
    running.type("exit\r")
    running.expect(NORMAL, "login: ")
    running.type("root\r")
    running.expect(NORMAL, PROMPT)


def test_power_off_ends_the_model(shell):
    running = shell().running
    running.type("poweroff\r")
    assert running.finish() == 0
    assert b"reboot: Power down" in running.shown[NORMAL]


def test_nothing_of_the_played_system_is_left(run, tmp_path):
    running = run(countdown_seconds=0)
    running.attach()
    running.expect(NORMAL, "login: ")
    assert list(tmp_path.glob("run/mock-fvp-*"))
    running.process.send_signal(2)
    assert running.finish() == 0
    assert not list(tmp_path.glob("run/mock-fvp-*"))
