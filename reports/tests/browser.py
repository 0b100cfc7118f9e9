# browser.py -- opens a report in chromium, without a window, and says what it saw.
#
#   browser.py FOLDER PAGE OTHERS GOLDEN
#
# OTHERS is the folder of a report whose content never changes, GOLDEN the file that says how pages
# of both look, as a telephone and as a screen show them ('': not asked). SHOTS=FOLDER keeps the
# pictures.
#
# Speaks TAP. All requests of the browser and all lines of its console are written down by the
# driver, so that a page which asks for anything but itself is seen to do so.
#
# SPDX-License-Identifier: Apache-2.0
import base64
import json
import os
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

folder, failure = os.path.abspath(sys.argv[1]), sys.argv[2]
others, golden = os.path.abspath(sys.argv[3]), sys.argv[4]
count = 0
failed = 0


def ok(claim, holds, what=""):
    global count, failed
    count += 1
    failed += not holds
    print("%s %d - %s" % ("ok" if holds else "not ok", count, claim), flush=True)
    if not holds and what != "":
        print("# %s" % str(what)[:400], file=sys.stderr, flush=True)


def start():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--user-data-dir=" + os.path.join(os.environ["HOME"], "chromium")):
        options.add_argument(argument)
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def requests(driver):
    """Addresses that a page asked for since the last call; what the browser opens with is its own."""
    urls = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent" and not message["params"].get(
                "documentURL", "").startswith("chrome:"):
            urls.append(message["params"]["request"]["url"])
    return urls


def foreign(urls):
    return [u for u in urls if not u.startswith(("file://" + folder, "file://" + others, "data:"))]


def luminance(driver):
    """Of the ground and of the text, from 0 to 765."""
    colours = driver.execute_script(
        "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]")
    return [sum(int(n) for n in c[c.index("(") + 1:-1].split(",")[:3]) for c in colours]


def scheme(driver, media, name):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "media": media, "features": [{"name": "prefers-color-scheme", "value": name}]})


def check_index(driver):
    driver.get("file://" + folder + "/index.html")
    links = driver.find_elements(By.CSS_SELECTOR, "a[href='%s']" % failure)
    ok("the index has a link to the failure", len(links) > 0)
    links[0].click()
    ok("the link leads to its page", driver.current_url.endswith("/" + failure),
       driver.current_url)
    ok("the page has its scenario's name",
       "zoo/tokio-4497/broken" in driver.find_element(By.TAG_NAME, "h1").text)


def check_steps(driver):
    link = driver.find_element(By.CSS_SELECTOR, ".lead a[href^='#step-']")
    anchor = link.get_attribute("href").split("#")[1]
    link.click()
    time.sleep(0.2)
    inside = driver.execute_script(
        "const r = document.getElementById(arguments[0]).getBoundingClientRect();"
        "return r.top < innerHeight && r.bottom > 0", anchor)
    ok("a link to a step leads to its box", inside and driver.current_url.endswith("#" + anchor))
    fits = driver.execute_script(
        "const out = []; for (const svg of document.querySelectorAll('figure svg.lanes')) {"
        " for (const g of svg.querySelectorAll('g:not(.lanes)')) {"
        "  const box = g.querySelector('rect.b'); if (!box) continue;"
        "  const b = box.getBoundingClientRect();"
        "  for (const t of g.querySelectorAll('text')) {"
        "   if (t.classList.contains('n') || t.classList.contains('t')) continue;"
        "   const r = t.getBoundingClientRect();"
        "   if (r.right > b.right + 0.5 || r.left < b.left - 0.5 || r.bottom > b.bottom + 1)"
        "    out.push(t.textContent); } } } return out")
    ok("no text leaves its box", fits == [], fits)
    ok("the lost wake is drawn", driver.execute_script(
        "const g = document.getElementById('lost'); return g && g.querySelectorAll('.l').length"
        " >= 2 && g.getBoundingClientRect().width > 100"))


def failures():
    return sorted(name for name in os.listdir(folder) if name.startswith("failure-"))


def check_pictures(driver):
    """What stands across all lanes may be long, and bold."""
    out = []
    for name in failures():
        driver.get("file://" + folder + "/" + name)
        out += driver.execute_script(
            "return [...document.querySelectorAll('svg.lanes text')].filter(text => {"
            " const box = text.getBBox();"
            " return box.x + box.width > text.closest('svg').viewBox.baseVal.width;"
            "}).map(text => text.textContent)")
    ok("no line runs out of its picture", len(failures()) > 2 and out == [], out)
    driver.get("file://" + folder + "/" + failure)


def check_arrows(driver):
    """The arrow keys go from step to step, and the bar has the row of the step."""
    driver.get("file://" + folder + "/" + failure)
    driver.execute_script("document.activeElement.blur()")

    def press(key):
        webdriver.ActionChains(driver).send_keys(key).perform()
        time.sleep(0.2)
        return (driver.current_url.split("#")[-1],
                driver.find_element(By.CLASS_NAME, "at").text)

    first = press(Keys.ARROW_RIGHT)
    second = press(Keys.ARROW_RIGHT)
    ok("the right arrow goes to the first step, and on",
       (first[0], second[0]) == ("step-1", "step-2"), (first, second))
    ok("the bar has its time, actor and events", first[1].startswith("1") and
       first[1].count("\u00b7") >= 3, first[1])
    seen = [first[1], second[1]]
    while len(seen) < 60 and seen[-1] != seen[-2]:
        seen.append(press(Keys.ARROW_RIGHT)[1])
    ok("it has the line of source", any("tokio-4497.c:" in bar and "(" in bar.split("\n")[1]
                                        for bar in seen), seen)
    ok("it has who is runnable", any("Also runnable: " in bar for bar in seen), seen)
    ok("it has what is waited for", "Waiting: server for a request since" in seen[-1], seen[-1])
    at = driver.current_url.split("#")[-1]
    driver.find_element(By.CSS_SELECTOR, ".at button").click()
    time.sleep(0.2)
    ok("a button goes back", driver.current_url.split("#")[-1] != at, at)
    driver.execute_script("document.querySelector('#step-2 rect').dispatchEvent("
                          "new MouseEvent('click', {bubbles: true}))")
    time.sleep(0.2)
    ok("a click on a box goes to its step", driver.current_url.endswith("#step-2"))
    press(Keys.ARROW_LEFT)
    press(Keys.ARROW_RIGHT)
    ok("the left arrow goes back", press(Keys.ARROW_LEFT)[0] == first[0])
    ok("before the first step there is none", press(Keys.ARROW_LEFT)[0] == first[0])


def check_tables(driver):
    """Filter and sort on the index; a failure leads to the next one."""
    driver.get("file://" + folder + "/index.html")

    def rows():
        return [row.text for row in driver.find_elements(
            By.CSS_SELECTOR, "[aria-label='Scenarios'] tbody tr") if row.is_displayed()]

    whole = rows()
    field = driver.find_element(By.CSS_SELECTOR, "input[type=search]")
    field.send_keys("MONOIO broken")
    ok("the filter leaves what has all words", len(whole) > 2 and
       [row.split()[0] for row in rows()] == ["zoo/monoio-147/broken"], rows())
    field.send_keys(Keys.CONTROL, "a", Keys.DELETE)
    ok("an empty filter leaves all", rows() == whole, rows())
    head = driver.find_element(By.CSS_SELECTOR, "[aria-label='Scenarios'] th")
    head.click()
    ok("a heading sorts its table", rows() == sorted(whole), rows())
    head.click()
    ok("again: the other way round", rows() == sorted(whole)[::-1], rows())
    seen = []
    driver.get("file://" + folder + "/" + failure)
    for rel in ("prev", "next"):
        links = driver.find_elements(By.CSS_SELECTOR, "a[rel=%s]" % rel)
        seen += [link.get_attribute("href").split("/")[-1] for link in links]
    ok("a failure leads to the ones beside it", len(seen) > 0 and
       failure not in seen and all(name in failures() for name in seen), seen)
    driver.get("file://" + folder + "/" + seen[0])
    ok("... which lead back", len(driver.find_elements(
        By.CSS_SELECTOR, "a[href='%s']" % failure)) == 1)


def check_cards(driver):
    """On a telephone a row is a card, with the headings of its cells."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
    driver.get("file://" + folder + "/index.html")
    wide = driver.execute_script(
        "return [...document.querySelectorAll('.scroll')].filter(s => s.querySelector('table'))"
        ".map(s => s.scrollWidth - s.clientWidth)")
    ok("390 pixels: no table scrolls sideways", len(wide) > 0 and max(wide) <= 0, wide)
    said = driver.execute_script(
        "const cell = document.querySelector(\"[aria-label='Failures'] td\");"
        "return [getComputedStyle(cell, '::before').content, getComputedStyle(cell).display]")
    ok("390 pixels: a cell has its heading", said == ['"Verdict" ": "', "block"] or
       said == ['"Verdict: "', "block"], said)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

def check_folded(driver):
    """A step that stands in a closed table opens it."""
    longest = max(failures(), key=lambda name: os.path.getsize(folder + "/" + name))
    driver.get("file://" + folder + "/" + longest + "#step-100")
    time.sleep(0.5)
    seen = driver.execute_script(
        "const e = document.getElementById('step-100');"
        "return e && e.closest('details').open && e.getBoundingClientRect().height > 0")
    ok("a step that is folded away is opened by its anchor", seen)
    driver.get("file://" + folder + "/" + failure)


def check_keyboard(driver):
    driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    names = []
    for _ in range(200):
        webdriver.ActionChains(driver).send_keys(Keys.TAB).perform()
        names.append(driver.execute_script(
            "const a = document.activeElement, s = getComputedStyle(a);"
            "return [a.tagName.toLowerCase(), a.getAttribute('href') || a.className.baseVal"
            " || a.className, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0]"))
        if names[-1][0] == "summary":
            break
    reached = [n[0] for n in names]
    ok("tab comes to the link past the head first", names[0][1] == "#main", names[:2])
    ok("tab comes to links, pictures and what can be opened",
       "a" in reached and "div" in reached and "summary" in reached, reached)
    ok("the focus is seen everywhere", all(n[2] for n in names), [n for n in names if not n[2]])
    before = driver.execute_script("return document.activeElement.parentElement.open")
    webdriver.ActionChains(driver).send_keys(Keys.ENTER).perform()
    after = driver.execute_script("return document.activeElement.parentElement.open")
    ok("enter opens it", not before and after)


def check_schemes(driver):
    scheme(driver, "screen", "light")
    ground, text = luminance(driver)
    ok("light: dark text on a light ground", ground > 600 and text < 200, (ground, text))
    scheme(driver, "screen", "dark")
    ground, text = luminance(driver)
    ok("dark: light text on a dark ground", ground < 200 and text > 500, (ground, text))
    scheme(driver, "print", "dark")
    ground, text = luminance(driver)
    ok("paper is light whatever the screen is", ground > 600 and text < 200, (ground, text))
    scheme(driver, "screen", "light")


def check_sizes(driver):
    for width in (360, 800, 1440):
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        ok("%d pixels: the page itself does not scroll sideways" % width, wide <= width, wide)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def check_paper(driver):
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    ok("it prints", pdf.startswith(b"%PDF") and len(pdf) > 10000, len(pdf))
    scheme(driver, "print", "light")
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": 718, "height": 1047, "deviceScaleFactor": 1, "mobile": False})
    heights = driver.execute_script(
        "return [...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect())"
        ".filter(r => r.height > 0).map(r => r.height)")
    ok("no picture is higher than a page", len(heights) > 0 and max(heights) < 1047, heights)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    scheme(driver, "screen", "light")


# ---- Golden screenshots: a digit for each square, from 0 (white) to f (much ink). ----

SQUARE = 20
LOOK = """
const [png, side, done] = arguments, image = new Image();
image.onload = () => {
    const canvas = document.createElement("canvas"), cx = canvas.getContext("2d");
    canvas.width = Math.floor(image.width / side);
    canvas.height = Math.floor(image.height / side);
    cx.imageSmoothingQuality = "high";
    cx.drawImage(image, 0, 0, canvas.width, canvas.height);
    const {data} = cx.getImageData(0, 0, canvas.width, canvas.height), lines = [];
    for (let y = 0; y < canvas.height; y++) {
        let line = "";
        for (let x = 0; x < canvas.width; x++) {
            const at = 4 * (y * canvas.width + x);
            const ink = 765 - data[at] - data[at + 1] - data[at + 2];
            line += Math.min(15, Math.floor(ink / 16)).toString(16);
        }
        lines.push(line);
    }
    done(lines);
};
image.src = "data:image/png;base64," + png;
"""


def screenshot(driver, page, width, height):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700})
    driver.get("file://" + page)
    time.sleep(0.3)
    png = driver.get_screenshot_as_base64()
    if "SHOTS" in os.environ:
        name = "%s-%d.png" % (os.path.basename(page), width)
        with open(os.path.join(os.environ["SHOTS"], name), "wb") as file:
            file.write(base64.b64decode(png))
    driver.get("about:blank")
    return driver.execute_async_script(LOOK, png, SQUARE)


def unlike(seen, wanted):
    """Of a hundred squares, those with clearly more or less ink."""
    if [len(line) for line in seen] != [len(line) for line in wanted]:
        return 100
    pairs = [(a, b) for one, two in zip(seen, wanted) for a, b in zip(one, two)]
    return 100 * sum(abs(int(a, 16) - int(b, 16)) > 2 for a, b in pairs) / len(pairs)


def check_golden(driver):
    pages = [others + "/" + name + ".html"
             for name in ("index", "command-1", "coverage", "coverage-4")]
    looks = {}
    for page in pages + [folder + "/" + failure]:
        for width, height in ((390, 840), (1280, 900)):
            name = "%s %d" % (os.path.basename(page).replace(failure, "failure.html"), width)
            looks[name] = screenshot(driver, page, width, height)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    if os.environ.get("GOLDEN") == "new":
        with open(golden, "w", encoding="ascii") as file:
            json.dump(looks, file, indent=1)
            file.write("\n")
    with open(golden, encoding="ascii") as file:
        wanted = json.load(file)
    for name, look in looks.items():
        part = unlike(look, wanted.get(name, []))
        ok("%s pixels: looks as ever" % name, part < 1, "%.1f %% of it differ" % part)


def main():
    driver = start()
    try:
        requests(driver)
        check_index(driver)
        check_steps(driver)
        check_arrows(driver)
        check_tables(driver)
        check_cards(driver)
        check_pictures(driver)
        check_folded(driver)
        check_keyboard(driver)
        check_schemes(driver)
        check_sizes(driver)
        check_paper(driver)
        if golden:
            check_golden(driver)
        asked = requests(driver)
        ok("pages were asked for", any(u.endswith(failure) for u in asked), asked)
        ok("nothing else was", foreign(asked) == [], foreign(asked))
        said = [e["message"] for e in driver.get_log("browser")]
        ok("the console is silent", said == [], said)
    finally:
        driver.quit()
    print("1..%d" % count)
    return failed > 0


sys.exit(main())
