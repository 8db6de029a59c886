// Shows the answer of a web tool: a page with its metadata, search hits or addresses, and always the raw JSON.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Code, CopyButton } from "../parts/copy.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { Badge, Empty, Notice } from "../parts/notice.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { formatBytes } from "../parts/time.tsx";

/** The body of an answer. */
export type WebAnswer = Readonly<Record<string, unknown>>;

/** The views of an answer. */
export function ToolViews({ slug, answer }: { slug: string; answer: WebAnswer }) {
  const Shown = slug === "scrape" ? ScrapedPage : slug === "search" ? Hits : Addresses;
  return (
    <>
      <h2 class="off-screen">Result</h2>
      <Shown answer={answer} />
    </>
  );
}

/** Views by name, as tabs. */
function Views({ views }: { views: readonly (readonly [string, () => ComponentChildren])[] }) {
  return <Tabs label="View" names={views.map(([name]) => name)} panel={(index) => views[index]?.[1]() ?? null} />;
}

const jsonView = (answer: WebAnswer) =>
  ["JSON", () => <Code text={JSON.stringify(answer, null, 2)} what="the answer" />] as const;

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function ScrapedPage({ answer }: { answer: WebAnswer }) {
  const data = (answer["data"] ?? {}) as WebAnswer;
  const metadata = (data["metadata"] ?? {}) as WebAnswer;
  const [markdown, html, picture] = [data["markdown"], data["html"], data["screenshot"]];
  const links = Array.isArray(data["links"]) ? (data["links"] as string[]) : undefined;
  const base = text(metadata["sourceURL"]);
  const views: (readonly [string, () => ComponentChildren])[] = [];
  if (typeof markdown === "string") {
    views.push(["Rendered", () => <Markdown text={markdown} base={base} />]);
    views.push(["Markdown", () => <Code text={markdown} what="the Markdown" />]);
  }
  if (typeof html === "string") views.push(["HTML", () => <Code text={html} what="the HTML" />]);
  if (links !== undefined) views.push([`Links (${links.length})`, () => <Links urls={links} />]);
  if (typeof picture === "string")
    views.push([
      "Screenshot",
      () => <img class="screenshot" src={`data:image/png;base64,${picture}`} alt={`Screenshot of ${base}`} />,
    ]);
  views.push(jsonView(answer));
  return (
    <div class="beside">
      <section class="card" aria-label="Page">
        {typeof data["warning"] === "string" && <Notice kind="warn">{data["warning"]}</Notice>}
        <Views views={views} />
      </section>
      <section class="card" aria-label="Page details">
        <PageFacts metadata={metadata} size={typeof markdown === "string" ? markdown.length : undefined} />
      </section>
    </div>
  );
}

const FIRST = ["title", "description", "statusCode", "sourceURL", "language"];

function PageFacts({ metadata, size }: { metadata: WebAnswer; size: number | undefined }) {
  const rest = Object.keys(metadata).filter((name) => !FIRST.includes(name));
  const status = Number(metadata["statusCode"] ?? 0);
  const shown = (name: string) => {
    const value = metadata[name];
    if (name === "statusCode") return <Badge kind={status < 400 ? "ok" : "danger"}>{String(status)}</Badge>;
    return typeof value === "string" ? value || "–" : JSON.stringify(value);
  };
  const names: Readonly<Record<string, string>> = { statusCode: "status", sourceURL: "address" };
  return (
    <dl class="facts">
      {[...FIRST.filter((name) => name in metadata), ...rest].map((name) => (
        <div class="contents" key={name}>
          <dt>{names[name] ?? name}</dt>
          <dd>{shown(name)}</dd>
        </div>
      ))}
      {size !== undefined && (
        <div class="contents">
          <dt>Markdown</dt>
          <dd>{formatBytes(size)}</dd>
        </div>
      )}
    </dl>
  );
}

/** The number of addresses that are shown at first; a button shows the rest. */
const SHOWN = 200;

function Links({ urls }: { urls: readonly string[] }) {
  const showsAll = useSignal(false);
  const typed = useSignal("");
  const found = urls.filter((url) => url.toLowerCase().includes(typed.value.trim().toLowerCase()));
  const shown = showsAll.value ? found : found.slice(0, SHOWN);
  if (urls.length === 0) return <Empty>No addresses.</Empty>;
  return (
    <div class="page">
      <div class="inline">
        <div class="field">
          <label for="link-filter">Only addresses that contain</label>
          <input
            id="link-filter"
            type="search"
            value={typed.value}
            spellcheck={false}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        </div>
        <CopyButton text={found.join("\n")} what="the addresses" />
      </div>
      <ul class="addresses">
        {shown.map((url) => (
          <li key={url}>
            <OutLink url={url}>{url}</OutLink>
          </li>
        ))}
      </ul>
      {found.length > shown.length && (
        <div class="row">
          <button type="button" onClick={() => (showsAll.value = true)}>
            Show all {found.length}
          </button>
        </div>
      )}
    </div>
  );
}

/** A link to another site. Any other address is shown as text, since a search engine may return anything. */
function OutLink({ url, children }: { url: string; children: ComponentChildren }) {
  if (!/^https?:\/\//i.test(url)) return <span>{children}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function Addresses({ answer }: { answer: WebAnswer }) {
  const links = Array.isArray(answer["links"]) ? (answer["links"] as string[]) : [];
  return (
    <section class="card" aria-label="Addresses">
      <Views views={[[`Addresses (${links.length})`, () => <Links urls={links} />], jsonView(answer)]} />
    </section>
  );
}

interface Hit {
  readonly title: string;
  readonly url: string;
  readonly content: string;
  readonly engines: readonly string[];
  readonly publishedDate?: string;
  readonly full_content?: string;
}

function Hits({ answer }: { answer: WebAnswer }) {
  const hits = Array.isArray(answer["results"]) ? (answer["results"] as Hit[]) : [];
  const silent = Array.isArray(answer["unresponsive_engines"])
    ? (answer["unresponsive_engines"] as { name: string; reason: string }[])
    : [];
  return (
    <section class="card" aria-label="Results">
      <Views
        views={[
          [`Results (${hits.length})`, () => <HitList hits={hits} />],
          [
            `Engines without an answer (${silent.length})`,
            () =>
              silent.length === 0 ? (
                <Empty>Every engine answered.</Empty>
              ) : (
                <dl class="facts">
                  {silent.map(({ name, reason }) => (
                    <div class="contents" key={name}>
                      <dt>{name}</dt>
                      <dd>{reason}</dd>
                    </div>
                  ))}
                </dl>
              ),
          ],
          jsonView(answer),
        ]}
      />
    </section>
  );
}

function HitList({ hits }: { hits: readonly Hit[] }) {
  if (hits.length === 0) return <Empty>No results.</Empty>;
  return (
    <ol class="hits">
      {hits.map((hit) => (
        <li key={hit.url}>
          <h3>
            <OutLink url={hit.url}>{hit.title || hit.url}</OutLink>
          </h3>
          <p class="hint long">{hit.url}</p>
          {hit.content !== "" && <p>{hit.content}</p>}
          <p class="figures">{[...hit.engines, ...(hit.publishedDate ? [hit.publishedDate] : [])].join(" · ")}</p>
          {hit.full_content !== undefined && <FullText text={hit.full_content} url={hit.url} />}
        </li>
      ))}
    </ol>
  );
}

function FullText({ text: markdown, url }: { text: string; url: string }) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>The page ({formatBytes(markdown.length)})</summary>
      {isOpen.value && <Markdown text={markdown} base={url} />}
    </details>
  );
}
