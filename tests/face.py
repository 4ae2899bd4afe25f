"""How a page of pmu-flame looks at four sizes, in Chromium or (WITH=firefox) Firefox.

    face.py PAGE NAME DIRECTORY    pictures go to DIRECTORY/NAME-SIZE.png

A screen of 1280x800 at 200 % zoom has 640x400 CSS pixels.  On paper the graph comes first and has
the whole width, in images of whole rows: pdfimages lists them, page by page.
"""
import base64
import os
import subprocess
import sys
import time

from flame import Page

SCREENS = {"desktop": (1280, 800, 1), "zoom200": (1280, 800, 2), "phone": (400, 800, 1)}
STRIP = 1480            # pixels of the images that the graph is printed in: flame-print.js


def inner(page):
    return page.run("[innerWidth, innerHeight]")


def chrome(page, script, *arguments):
    """Run SCRIPT in Firefox's own window."""
    page.driver.call("Marionette:SetContext", {"value": "chrome"})
    try:
        return page.driver.execute_script(script, *arguments)
    finally:
        page.driver.call("Marionette:SetContext", {"value": "content"})


def resize(page, width, height, zoom):
    """Make the page's part of the window WIDTH x HEIGHT, and zoom it."""
    want = [width // zoom, height // zoom]
    if hasattr(page.driver, "execute_cdp_cmd"):
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": want[0], "height": want[1], "deviceScaleFactor": zoom, "mobile": False})
    else:
        chrome(page, """gBrowser.selectedBrowser.fullZoom = 1;
            document.documentElement.style.minWidth = '0';""")
        for _ in range(100):
            now = inner(page)
            if now == [width, height]:
                break
            chrome(page, "window.resizeBy(arguments[0], arguments[1])", width - now[0],
                   height - now[1])
            page.settle()
            time.sleep(0.05)
    set_zoom(page, zoom, want)


def set_zoom(page, zoom, want):
    """Firefox forgets the zoom when it opens a page."""
    for _ in range(200):
        if inner(page) == want:
            break
        if not hasattr(page.driver, "execute_cdp_cmd"):
            chrome(page, "gBrowser.selectedBrowser.fullZoom = arguments[0]", zoom)
        time.sleep(0.05)
    assert inner(page) == want, (inner(page), want)
    page.settle()


def shown(page, path, fragment, size):
    width, height, zoom = SCREENS[size]
    page.open(path, fragment)
    set_zoom(page, zoom, [width // zoom, height // zoom])


def picture(page, path):
    if hasattr(page.driver, "execute_cdp_cmd"):
        shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(shot))
    else:
        page.driver.save_screenshot(path)


def height_of(page, selector):
    return page.run("document.querySelector(arguments[0])?.getBoundingClientRect().height || 0",
                    selector)


def check_screen(page, path, size, directory):
    """The graph has half of the height; what is around it is folded, and a button shows it."""
    for fragment in "", "#heat=1&side=1", "#heat=1&side=1&gone=1", "#heat=0&side=0&v=icicle":
        shown(page, path, fragment, size)
        width, height = inner(page)
        share = height_of(page, "#plot") / height
        assert share >= 0.5, (size, fragment, share)
        assert page.run("document.documentElement.scrollWidth") <= width, (size, fragment)
    # callers are above, where a window that has just been zoomed is
    assert page.pixels("r !== g || g !== b") > 0.02, (size, "no box is drawn")
    shown(page, path, "#heat=1&side=1", size)
    picture(page, "%s-%s.png" % (directory, size))
    if not height_of(page, "#bm"):
        assert size == "desktop" and height_of(page, "#ty") and height_of(page, "#heat")
        return
    assert not height_of(page, "#ty") and not height_of(page, "#heat")
    page.settle("document.getElementById('bm').click()")
    assert height_of(page, "#ty") and height_of(page, "#q") and height_of(page, "#heat"), size
    picture(page, "%s-%s-open.png" % (directory, size))
    page.settle("document.getElementById('bm').click()")
    assert not height_of(page, "#ty") and not height_of(page, "#heat")
    page.key("/")
    assert height_of(page, "#q"), "the key / does not show the search"


def printed(page, path, file):
    """Print the page to FILE.  Return the images: page, width, height, pixels per inch."""
    page.open(path, "#heat=1&side=1")
    page.settle()
    if hasattr(page.driver, "execute_cdp_cmd"):
        pdf = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    else:
        pdf = page.driver.call("WebDriver:Print", {"background": True})["value"]
    with open(file, "wb") as out:
        out.write(base64.b64decode(pdf))
    table = subprocess.check_output(["pdfimages", "-list", file], text=True).splitlines()[2:]
    rows = [line.split() for line in table]
    return [(int(r[0]), int(r[3]), int(r[4]), int(r[12])) for r in rows if r[2] == "image"]


def check_print(page, path, name):
    rows = len([row for row in page.rows() if row])
    images = printed(page, path, name + "-print.pdf")
    strips = [image for image in images if image[1] == STRIP]
    assert strips and strips[0][0] == 1, images
    # each strip is on one page, so no row is cut: a row has 38 pixels
    heights = [height for number, width, height, ppi in strips]
    assert all(height % 38 == 0 for height in heights), heights
    # another width than the window's has nearly as many rows
    assert 0.8 < sum(heights) / (38 * rows) < 1.25, (heights, rows)
    # the paper has 8.5 inches, of which margins take 0.8
    assert all(7.4 < width / ppi < 7.8 for number, width, height, ppi in strips), strips
    # the table and the heat map come after it
    text = subprocess.check_output(["pdftotext", name + "-print.pdf", "-"], text=True)
    assert 0 < text.index("Self") < text.index("Function") < text.rindex("\nTime\n"), text
    subprocess.check_call(["pdftoppm", "-r", "60", "-png", name + "-print.pdf", name + "-print"])


def main(path, name, directory):
    os.makedirs(directory, exist_ok=True)
    name = os.path.join(directory, name)
    page = Page()
    try:
        for size, (width, height, zoom) in SCREENS.items():
            page.open(path)
            resize(page, width, height, zoom)
            check_screen(page, path, size, name)
            assert page.errors() == [], page.errors()
        page.open(path)
        resize(page, 1280, 800, 1)
        check_print(page, path, name)
        assert page.errors() == [], page.errors()
    except BaseException:
        page.driver.save_screenshot(name + "-failed.png")
        raise
    finally:
        page.driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
