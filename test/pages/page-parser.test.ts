import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Parser } from "htmlparser2";
import { knownName } from "../../src/pages/dom/known-names.ts";
import { createParser } from "../../src/pages/dom/page-parser.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

/** What the parser tells of a page. */
function eventsOf(html: string): unknown[] {
  const events: unknown[] = [];
  const parser = createParser(html, {
    openCount: 0,
    opened: () => undefined,
    closed: () => undefined,
    isOpen: () => true,
    open: (name, attributes) => events.push(["open", name, { ...attributes }]),
    text: (text) => events.push(["text", text]),
    close: (name) => events.push(["close", name]),
  });
  parser.write(html);
  parser.end();
  return events;
}

/** The same of the library's own parser. */
function libraryEventsOf(html: string): unknown[] {
  const events: unknown[] = [];
  const parser = new Parser(
    {
      onopentag: (name, attributes) => events.push(["open", name, { ...attributes }]),
      ontext: (text) => events.push(["text", text]),
      onclosetag: (name) => events.push(["close", name]),
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true, recognizeSelfClosing: false },
  );
  parser.write(html);
  parser.end();
  return events;
}

describe("the parser of pages tells what the library's parser tells", () => {
  const cases = [
    "a<b",
    "a < b & c &amp; d &ampe &#x41;&notit; &",
    '<p class=a&amp;b title=\'x & "y" &lt;\' data-x = "1&quot;>2" hidden>t</p>',
    "<a href=/x/y?a=b&c=d>x</a >y</ a></>",
    "<DIV CLASS=A Id=b STYLE><IMG SRC=x><image alt=q></DIV>",
    '<a =x "y" / z/w=1 class class="2" CLASS=3>',
    "<svg viewBox='0 0' class=c><foreignObject><div class=d></div></foreignObject><clippath/><title>t</title></svg>x",
    "<math><mi>a</mi><annotation-xml><p>x</math>",
    "<title>a &amp; <b> </title><textarea>&lt;</textarea><script>a<b && '</scr'</script><style>a>b</style>",
    "<!doctype html><!-- a -- > b --><!-><!x><?y?><![CDATA[z]]>t",
    "<p>a<p>b</div><br/></br></p></p><ul><li>a<li>b<table><tr><td>c<td>d",
    "<form><form></form></form><plaintext><b>&amp;",
    "<div class",
    "<div class=",
    "<div class='a",
    '<div class="a&amp',
    "</di",
    "text &am",
    "<script>never ends",
    "<!-- never ends",
    "<a\u00a0b\u0000c=\ud83d\ude00>\ud83d\ude00\u2028</a>",
  ];
  for (const html of cases)
    test(html, () => {
      expect(eventsOf(html)).toEqual(libraryEventsOf(html));
    });

  test("of any mixture of such parts", () => {
    const part = fc.oneof(
      fc.constantFrom(
        ..."< > </ /> = \" ' & ; ! - -- <!-- --> </p> </P> <p> <div class=a> <svg> </svg> <title> </title> <script> </script>".split(
          " ",
        ),
        ..."<a href= class id TITLE image DIV &amp; &#65; &not &bogus; <table> <td> <li> <br> <foreignObject> <math> <option>".split(
          " ",
        ),
        " ",
        "\n",
        "\t",
        "\f",
        "\r",
      ),
      fc.constantFrom(...cases),
      fc.string({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const html = parts.join("");
        expect(eventsOf(html)).toEqual(libraryEventsOf(html));
      }),
      { numRuns: 2000 },
    );
  });
});

test("a common name is known where it stands alone and in lower case", () => {
  for (const name of ["div", "a", "class", "aria-label"]) expect(knownName(`<${name}>`, 1, 1 + name.length)).toBe(name);
  for (const name of ["DIV", "Class", "divx", "x-y", "image"])
    expect(knownName(`<${name}>`, 1, 1 + name.length)).toBeUndefined();
});

test("a frame is closed at the end of its <noscript>, however its tag is written", () => {
  const frames = [
    "<iframe src=a>",
    "<IFRAME src=a>",
    "<Iframe\n src='b'>",
    "<iframe>",
    "<iframe src=a></iframe>",
    "<i><iframe src=a>",
  ];
  for (const frame of frames)
    for (const end of ["</noscript>", " </NOSCRIPT>", "\n\n</noscript\n>"]) {
      const html = `<noscript>${frame}${end}`.repeat(2);
      expect(parsePage(`${html}<p>after</p>`).body.textContent.trim()).toBe("after");
    }
});
