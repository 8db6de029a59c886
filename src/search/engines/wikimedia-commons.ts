// Wikimedia Commons: images, and documents, recordings and models for the category of files.

import { address, jsonHeaders, offset, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { namesOf, readJsonAnswer } from "../reading/json.ts";
import { mediaWikiFailure } from "../reading/mediawiki.ts";
import { joined } from "../reading/text.ts";

/** The members of a complete response without hits. */
const EMPTY_NAMES = new Set(["batchcomplete", "limits", "warnings"]);

export const wikimediaCommons: SearchEngine = {
  name: "wikimedia-commons",
  categories: ["images", "files"],
  about: { website: "https://commons.wikimedia.org", official: true },
  enabledByDefault: true,
  network: "wikimedia",
  timeoutMs: 6000,
  pagesMax: 10,
  selectors: {
    results: "query.pages",
    rank: "index",
    title: "title",
    url: "imageinfo.0.descriptionurl",
    file: "imageinfo.0.url",
    thumbnail: "imageinfo.0.thumburl",
    mime: "imageinfo.0.mime",
    width: "imageinfo.0.width",
    height: "imageinfo.0.height",
    size: "imageinfo.0.size",
  },
  request(context) {
    const size = pageSize(context, 20);
    const kinds = context.query.category === "images" ? "bitmap|drawing" : "multimedia|office|archive|3d|audio|video";
    const url = address(context, "https://commons.wikimedia.org", "/w/api.php", {
      action: "query",
      generator: "search",
      gsrnamespace: 6,
      gsrsearch: `filetype:${kinds} ${context.query.text}`,
      gsrlimit: size,
      gsroffset: offset(context, size),
      prop: "info|imageinfo",
      iiprop: "url|size|mime",
      iiurlheight: 180,
      format: "json",
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: wikimediaCommons,
      failure: mediaWikiFailure,
      isEmpty(body) {
        const names = namesOf(body) ?? [];
        return names.includes("batchcomplete") && names.every((name) => EMPTY_NAMES.has(name));
      },
      draft(fields) {
        const [width, height] = [fields.literal("width"), fields.literal("height")];
        const bytes = Number(fields.raw("size"));
        return {
          title: fields
            .literal("title")
            .replace(/^File:/, "")
            .replace(/\.\w{2,5}$/, ""),
          snippet: joined([
            fields.literal("mime"),
            width !== "" && width !== "0" && `${width} × ${height}`,
            bytes > 0 && `${Math.ceil(bytes / 1024)} KiB`,
          ]),
        };
      },
    }),
};
