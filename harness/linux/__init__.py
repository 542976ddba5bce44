"""Two builds of somebody's runner, held against each other on a board that boots Linux."""
