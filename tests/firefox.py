"""Drives headless Firefox by Marionette, its own protocol: Debian has no geckodriver.

It has what tests/flame.py uses of Selenium's driver.  A message is "SIZE:[0, ID, COMMAND, {}]",
an answer "SIZE:[1, ID, ERROR, {}]".
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

PREFERENCES = {
    "marionette.port": 0, "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "browser.startup.page": 0, "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,", "browser.aboutwelcome.enabled": False,
}


class Firefox:
    def __init__(self, program="firefox-esr"):
        self.profile = tempfile.mkdtemp(prefix="firefox-")
        with open(os.path.join(self.profile, "user.js"), "w") as out:
            for name, value in PREFERENCES.items():
                out.write("user_pref(%s, %s);\n" % (json.dumps(name), json.dumps(value)))
        self.process = subprocess.Popen(
            [program, "--headless", "--marionette", "--no-remote",
             "-remote-allow-system-access", "--profile", self.profile],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.profile, "MOZ_CRASHREPORTER_DISABLE": "1"})
        port = os.path.join(self.profile, "MarionetteActivePort")
        while not os.path.exists(port) or not open(port).read():
            assert self.process.poll() is None, "Firefox has ended"
            time.sleep(0.05)
        self.socket = socket.create_connection(("127.0.0.1", int(open(port).read())))
        self.number = 0
        self.receive()
        self.call("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {}}})
        self.call("WebDriver:SetTimeouts", {"script": 600000, "pageLoad": 600000})

    def receive(self):
        size = b""
        while (byte := self.socket.recv(1)) != b":":
            assert byte, "Firefox has closed the connection"
            size += byte
        text = b""
        while len(text) < int(size):
            text += self.socket.recv(int(size) - len(text))
        return json.loads(text)

    def call(self, command, parameters):
        self.number += 1
        text = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, number, error, result = self.receive()
        assert number == self.number and error is None, error
        return result

    def execute_script(self, script, *arguments, name="ExecuteScript"):
        return self.call("WebDriver:" + name, {"script": script, "args": arguments,
                                               "sandbox": None, "newSandbox": False})["value"]

    def execute_async_script(self, script, *arguments):
        return self.execute_script(script, *arguments, name="ExecuteAsyncScript")

    @property
    def current_url(self):
        return self.call("WebDriver:GetCurrentURL", {})["value"]

    def get(self, address):
        self.call("WebDriver:Navigate", {"url": address})

    def get_log(self, kind):
        """Errors of this page since the last call: of scripts, and what a policy refused."""
        self.call("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.execute_script("""
                const found = Services.console.getMessageArray().filter(m =>
                    m instanceof Ci.nsIScriptError && !(m.flags & Ci.nsIScriptError.warningFlag) &&
                    /^file:.*html/.test(m.sourceName));
                Services.console.reset();
                return found.map(m => ({ level: "SEVERE", message: m.errorMessage }));""")
        finally:
            self.call("Marionette:SetContext", {"value": "content"})

    def set_window_size(self, width, height):
        self.call("WebDriver:SetWindowRect", {"width": width, "height": height})

    def save_screenshot(self, path):
        picture = self.call("WebDriver:TakeScreenshot", {"full": False})["value"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(picture))

    def quit(self):
        try:
            self.call("Marionette:Quit", {"flags": ["eForceQuit"]})
            self.process.wait(60)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.socket.close()
        shutil.rmtree(self.profile, ignore_errors=True)
