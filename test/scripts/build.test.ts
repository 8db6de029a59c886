// What a built program must not hold, so that two machines build the same bytes.

import { expect, test } from "bun:test";
import { refuseOwnPlace } from "../../scripts/build.ts";

test.each([
  ["a file of a package", "/app", "at /app/node_modules/a/index.js:1", true],
  ["a file of the program", "/home/ada/sallyport", '"/home/ada/sallyport/src/main.ts"', true],
  ["an embedded file", "/src", 'from"/src/.cache/embedded/driver.gz"', true],
  ["words of the runtime", "/app", ".ms.[0m./app/.heroku/node/bin/node", false],
  ["words of the runtime that are a relative path", "/src", 'bun build "./src/index.html"', false],
  ["a file of another folder", "/app", "/build/node_modules/a/index.js", false],
])("%s is refused if it lies in this repository", (_, folder, text, isRefused) => {
  const refuse = () => refuseOwnPlace("a program", new TextEncoder().encode(`before ${text} after`), folder);
  if (isRefused) expect(refuse).toThrow("holds a path of this machine");
  else expect(refuse).not.toThrow();
});
