// The names of the search engines, for the check of a configuration; a test holds them against the engines themselves.

/** What `search.only` and `search.engines` may name. */
export const ENGINE_NAMES: readonly string[] = [
  "searxng wikipedia wikidata duckduckgo brave-html startpage mojeek bing brave tavily exa serper",
  "google-news bing-news hackernews gdelt",
  "arxiv crossref semantic-scholar pubmed openalex",
  "github gitlab stackexchange mdn docker-hub hugging-face",
  "mastodon lemmy bluesky reddit",
  "youtube sepiasearch peertube dailymotion",
  "musicbrainz",
  "internet-archive",
  "openverse wikimedia-commons",
  "nominatim photon",
].flatMap((names) => names.split(" "));
