"""Loads pages into headless Chromium and measures them: `pages.py CHROMIUM SHOTS PAGE[=SCREENS[,PAPER]]...`

Each page is looked at 1280 and 390 px wide, light and dark, as it loads and (but narrow and dark) with everything unfolded. A fault is text that
overlaps or is cut off, a contrast below 4.5, a page that scrolls sideways, more screens of 1280x800 than SCREENS before anything
is unfolded, more pages than PAPER when it is printed like that, or an error of a script. SHOTS is a directory for pictures, or '-'.
Standard library only: Chromium is spoken to over its pipe."""

import base64
import json
import os
import pathlib
import re
import select
import subprocess
import sys
import tempfile
import time

WIDTHS = (1280, 390)
SCRIPTS = (pathlib.Path(__file__).parent / "pages.js").read_text()
# What a call may take before the browser counts as hung.
PATIENCE_S = 180


class Browser:
    """Headless Chromium, spoken to in JSON with a NUL behind each message (--remote-debugging-pipe)."""

    def __init__(self, program, profile):
        self.log = open(os.path.join(profile, "log"), "w+b")
        to_child, self.writer = os.pipe()
        self.reader, from_child = os.pipe()

        def join():
            # The browser reads descriptor 3 and writes descriptor 4; neither pipe may be in the way of the other.
            high = [os.dup2(to_child, 20), os.dup2(from_child, 21)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        # Without a sandbox: it cannot be made as root in a container, and the pages are our own.
        flags = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run"
        command = [program, *flags.split(), "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            command, preexec_fn=join, close_fds=False, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        os.close(to_child)
        os.close(from_child)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.call(f"{domain}.enable")

    def message(self):
        until = time.monotonic() + PATIENCE_S
        while b"\0" not in self.rest:
            if not select.select([self.reader], [], [], max(0, until - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            piece = os.read(self.reader, 1 << 20)
            if not piece:
                self.log.seek(0)
                raise RuntimeError("the browser ended: " + self.log.read()[-400:].decode(errors="replace"))
            self.rest += piece
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.writer, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while True:
            for i, event in enumerate(self.events):
                if event.get("method") == method:
                    return self.events.pop(i)
            self.events.append(self.message())

    def run(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"].get("exception", answer["exceptionDetails"])))
        return answer["result"].get("value")

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)


SETTLED = "new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => f(1), 60))))"


def size(browser, width, height):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    browser.run(SETTLED)


def measured(browser, width):
    """Faults of the page as it is now, and how high it is. The view is as high as the page, so that all of it can be asked for."""
    size(browser, width, 800)
    height = browser.run("document.documentElement.scrollHeight")
    size(browser, width, height)
    result = browser.run("measure()")
    return result, height


def shot(browser, path):
    picture = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)
    pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))


def printed(browser):
    pdf = base64.b64decode(browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def look(browser, path, screens, paper, shots):
    faults = []
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            browser.events.clear()
            size(browser, width, 800)
            browser.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
            browser.wait("Page.loadEventFired")
            browser.run(SETTLED)
            name = f"{pathlib.Path(path).stem}, {width} px, {scheme}"
            result, height = measured(browser, width)
            found = list(result["faults"])
            if not result["pieces"]:
                found.append("empty: there is no text")
            if shots:
                shot(browser, f"{shots}/{pathlib.Path(path).stem}-{width}-{scheme}.png")
            if width == WIDTHS[0] and screens and height > screens * 800:
                found.append(f"too long: {height / 800:.1f} screens before folds, at most {screens} are allowed")
            if width == WIDTHS[0] and scheme == "light" and paper:
                folded = printed(browser)
                if folded > paper:
                    found.append(f"too long: {folded} pages of paper before folds, at most {paper} are allowed")
            if (width, scheme) == (WIDTHS[1], "dark"):
                # What is unfolded was looked at in both widths and in both schemes.
                unfolded, full = result, height
            else:
                browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
                browser.run(SETTLED)
                unfolded, full = measured(browser, width)
            found += [f"unfolded: {f}" for f in unfolded["faults"] if f not in result["faults"]]
            if shots:
                shot(browser, f"{shots}/{pathlib.Path(path).stem}-{width}-{scheme}-unfolded.png")
            if width == WIDTHS[0] and scheme == "light" and paper and printed(browser) <= folded:
                found.append("print: what is unfolded is not printed")
            errors = [e for e in browser.events if e.get("method") == "Runtime.exceptionThrown"]
            found += ["script: " + e["params"]["exceptionDetails"]["text"] for e in errors]
            texts = f"{result['pieces']} texts, {height / 800:.1f} screens, {unfolded['canvases']} plots"
            print(f"{name}: {texts}; unfolded {unfolded['pieces']} texts, {full / 800:.1f} screens")
            for fault in dict.fromkeys(found):
                print(f"  {fault}")
            faults += found
    return faults


def main():
    program, shots, *pages = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        try:
            browser = Browser(program, profile)
        except (OSError, RuntimeError) as error:
            print(f"SKIPPED: {program} does not start: {error}")
            return 77
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=f"{SCRIPTS}\nwatchCanvas();")
        faults = []
        for page in pages:
            path, _, limits = page.partition("=")
            screens, _, paper = limits.partition(",")
            faults += look(browser, path, float(screens or 0), int(paper or 0), None if shots == "-" else shots)
        browser.close()
    print(f"{len(pages)} pages, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
