"""Runs the table of rows.py: each way of use x each name x each command has to be refused, name the holder, and leave
every byte as it was; what is not used has to be written to, or nothing would be shown.

    table.py DIRECTORY [--only TEXT] [--brief] [--layers] [--spare DISK]... [--paths DISK DISK]      NARROWS is the program
"""

import argparse
import os
import sys

import layers
import rows
from program import NOT_THIS_ONE, Program, confirmation_in, destroy

REFUSED = 3


def confirmed(scene, device):
    """The right word for a device."""
    return destroy(scene.identities.get(device) or os.path.basename(os.path.realpath(device)))


def overwrite(scene, file):
    """That of a file."""
    return ["--overwrite"]


class Table(Program):
    """Ways of use x names x commands."""

    turn = 0

    def ways(self, names, some=None):
        """Names with commands: each by each, or some of them, which are others in the next row."""
        if not some:
            return [(name, command) for name in names for command in rows.COMMANDS]
        turns = range(self.turn, self.turn + some)
        self.turn += some
        return [(names[t % len(names)], rows.COMMANDS[(t + t // len(names)) % len(rows.COMMANDS)]) for t in turns]

    def used(self, names, confirm, brief):
        """The judge of a row that must be refused."""

        def judge(title, make):
            ways = self.ways(names, 1 if brief else None)
            while ways:
                with self.scene() as scene:
                    target = make(scene)
                    scene.settle()
                    # What was damaged is made anew.
                    while ways and self.refused(title, scene, target, ways.pop(0), confirm(scene, target)):
                        pass

        return judge

    def refused(self, title, scene, target, way, confirmation):
        """Whether the scene is still what it was."""
        (name, alias), (command, words) = way
        before, word = alias(scene, target)
        code, said = self.narrows(scene, before, words(self.texts, word) + confirmation)
        return self.is_refusal(title, f"{name}, {command}", scene, code, said, scene.says)

    def is_refusal(self, title, call, scene, code, said, words):
        """Complains unless it is one that has one of these words; whether the content is as before."""
        kept = scene.is_settled()
        if not kept:
            self.complain(title, call, f"exit {code}, AND THE CONTENT CHANGED", said)
        elif code != REFUSED:
            self.complain(title, call, f"exit {code} instead of {REFUSED}", said)
        elif not any(word in said for word in words):
            self.complain(title, call, f"refused without any of: {', '.join(words)}", said)
        return kept

    def unused(self, names, confirm):
        """The judge of a row that must be written to when it is confirmed, and only then."""

        def judge(title, make):
            with self.scene() as scene:
                target = make(scene)
                scene.settle()
                for way in self.ways(names, 1 if self.asked.brief else len(rows.COMMANDS)):
                    self.written(title, scene, target, way, confirm(scene, target))

        return judge

    def written(self, title, scene, target, way, confirmation):
        """Without or with a wrong confirmation nothing is; with the right one, which the refusal names, it is."""
        (name, alias), (command, words) = way
        before, word = alias(scene, target)
        call, asked = f"{name}, {command}", words(self.texts, word)
        if confirmation[0] == "--destroy":
            code, said = self.narrows(scene, before, asked + destroy(NOT_THIS_ONE))
            self.is_refusal(title, f"{call}, wrong confirmation", scene, code, said, [NOT_THIS_ONE])
            confirmation = destroy(confirmation_in(said) or confirmation[1])
        code, said = self.narrows(scene, before, asked) if command == "run" else (0, "")
        if not scene.is_settled():
            self.complain(title, f"{call}, no confirmation", f"exit {code}, AND THE CONTENT CHANGED", said)
        code, said = self.narrows(scene, before, asked + confirmation)
        changed = not scene.is_settled()
        if not any(word in said for word in scene.says or [""]):
            self.complain(title, call, f"what is lost is not said: none of {', '.join(scene.says)}", said)
        if code not in (0, 4) or not changed:
            why = "" if changed else ", and nothing was written"
            self.complain(title, call, f"{' '.join(confirmation)}: exit {code}{why}", said)
        # Only the first has overwritten it.
        scene.says.clear()
        scene.settle()

    def misconfirmed(self, title, make):
        """Judges a row of a device that nobody uses, and a word that confirms another one."""
        with self.scene() as scene:
            target, word = make(scene)
            scene.settle()
            for command, words in rows.COMMANDS:
                code, said = self.narrows(scene, [], words(self.texts, target) + destroy(word))
                self.is_refusal(title, f"{command} --destroy {word}", scene, code, said, [word])

    def output(self, brief):
        """The judge of a command that writes a page: never onto a device, by no name."""

        def judge(title, words):
            for make in (rows.DEVICES[0][1], rows.UNUSED_DEVICES[0][1]):
                with self.scene() as scene:
                    target = make(scene)
                    scene.settle()
                    for name, alias in rows.NAMES_OF_DEVICES[: 2 if brief else None]:
                        before, word = alias(scene, target)
                        code, said = self.narrows(scene, before, words(word))
                        self.is_refusal(title, name, scene, code, said, ["device", "regular file", "is there already"])

        return judge


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--only", help="rows whose title has this regular expression")
    parser.add_argument("--brief", action="store_true", help="each row by one command and name, another one in each row")
    parser.add_argument("--spare", action="append", default=[], metavar="DISK", help="a disk that may be used up")
    parser.add_argument("--paths", nargs=2, default=[], metavar="DISK", help="two that are paths to one disk, to be used up")
    parser.add_argument("--layers", action="store_true", help="the rows of layers.py; one that cannot run is wrong")
    asked = parser.parse_args()
    table = Table(asked)
    if asked.layers:
        table.rows("layer", layers.USED, table.used(rows.NAMES_OF_DEVICES, confirmed, asked.brief))
        table.rows("unused layer", layers.UNUSED, table.unused(rows.NAMES_OF_DEVICES[:1], confirmed))
        table.rows("confirmation", layers.CONFIRMATIONS, table.misconfirmed)
        return table.conclude(must_run=True)
    table.rows("device", rows.DEVICES, table.used(rows.NAMES_OF_DEVICES, confirmed, asked.brief), 2)
    table.rows("file", rows.FILES, table.used(rows.NAMES_OF_FILES, overwrite, asked.brief), 2)
    table.rows("unused device", rows.UNUSED_DEVICES, table.unused(rows.NAMES_OF_UNUSED_DEVICES, confirmed))
    table.rows("unused file", rows.UNUSED_FILES, table.unused(rows.NAMES_OF_UNUSED_FILES, overwrite))
    table.rows("confirmation", rows.CONFIRMATIONS, table.misconfirmed)
    with table.scene() as scene:
        for tag, card in (("one", "sim:a1-card"), ("other", "sim:class4-card")):
            table.narrows(scene, [], ["run", "latency", card, "--tag", tag])
    table.rows("output", rows.OUTPUTS, table.output(asked.brief))
    return table.conclude()


if __name__ == "__main__":
    sys.exit(main())
