// Every search engine. A new one is a file, a line here and a folder of samples in test/search/samples.

import type { SearchEngine } from "../engine.ts";
import { arxiv } from "./arxiv.ts";
import { bingNews } from "./bing-news.ts";
import { crossref } from "./crossref.ts";
import { dailymotion } from "./dailymotion.ts";
import { dockerHub } from "./docker-hub.ts";
import { gdelt } from "./gdelt.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { googleNews } from "./google-news.ts";
import { hackernews } from "./hackernews.ts";
import { huggingFace } from "./hugging-face.ts";
import { internetArchive } from "./internet-archive.ts";
import { lemmy } from "./lemmy.ts";
import { mastodon } from "./mastodon.ts";
import { mdn } from "./mdn.ts";
import { musicbrainz } from "./musicbrainz.ts";
import { nominatim } from "./nominatim.ts";
import { openverse } from "./openverse.ts";
import { peertube } from "./peertube.ts";
import { photon } from "./photon.ts";
import { pubmed } from "./pubmed.ts";
import { searxng } from "./searxng.ts";
import { semanticScholar } from "./semantic-scholar.ts";
import { sepiasearch } from "./sepiasearch.ts";
import { stackexchange } from "./stackexchange.ts";
import { wikidata } from "./wikidata.ts";
import { wikimediaCommons } from "./wikimedia-commons.ts";
import { wikipedia } from "./wikipedia.ts";

/** In the order in which engines of equal standing are asked. */
export const ENGINES: readonly SearchEngine[] = [
  wikipedia,
  wikidata,
  searxng,
  hackernews,
  googleNews,
  bingNews,
  gdelt,
  arxiv,
  semanticScholar,
  pubmed,
  crossref,
  github,
  stackexchange,
  mdn,
  dockerHub,
  gitlab,
  huggingFace,
  lemmy,
  mastodon,
  sepiasearch,
  dailymotion,
  peertube,
  musicbrainz,
  internetArchive,
  openverse,
  wikimediaCommons,
  nominatim,
  photon,
];
