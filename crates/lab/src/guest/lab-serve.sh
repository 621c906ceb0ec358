#!/bin/sh
# What answers one lab-on: a script comes to its end, is run, and its exit code is the last line.
script=/tmp/lab-serve.$$
cat > "$script"
sh "$script" < /dev/null 2>&1
printf '\n@lab-exit %s\n' $?
rm "$script"
