// Every page of the manual in the program: one import and one line each. The files are in docs/ of the repository; a test
// compares the list with the folder.

import accounts from "../../../docs/accounts.md" with { type: "text" };
import dashboard from "../../../docs/dashboard.md" with { type: "text" };
import decisions from "../../../docs/decisions.md" with { type: "text" };
import agents from "../../../docs/guides/agents.md" with { type: "text" };
import alertsGuide from "../../../docs/guides/alerts.md" with { type: "text" };
import applications from "../../../docs/guides/applications.md" with { type: "text" };
import cacheGuide from "../../../docs/guides/cache.md" with { type: "text" };
import chatTools from "../../../docs/guides/chat-tools.md" with { type: "text" };
import deployment from "../../../docs/guides/deployment.md" with { type: "text" };
import firecrawl from "../../../docs/guides/firecrawl.md" with { type: "text" };
import guardrails from "../../../docs/guides/guardrails.md" with { type: "text" };
import judged from "../../../docs/guides/how-it-is-judged.md" with { type: "text" };
import limits from "../../../docs/guides/limits-and-errors.md" with { type: "text" };
import mcp from "../../../docs/guides/mcp.md" with { type: "text" };
import media from "../../../docs/guides/media.md" with { type: "text" };
import metrics from "../../../docs/guides/metrics.md" with { type: "text" };
import moving from "../../../docs/guides/moving.md" with { type: "text" };
import notOffered from "../../../docs/guides/not-offered.md" with { type: "text" };
import operating from "../../../docs/guides/operating.md" with { type: "text" };
import postgresql from "../../../docs/guides/postgresql.md" with { type: "text" };
import providersGuide from "../../../docs/guides/providers.md" with { type: "text" };
import requestLog from "../../../docs/guides/request-log.md" with { type: "text" };
import sdks from "../../../docs/guides/sdks.md" with { type: "text" };
import security from "../../../docs/guides/security.md" with { type: "text" };
import severalNodes from "../../../docs/guides/several-nodes.md" with { type: "text" };
import start from "../../../docs/guides/start.md" with { type: "text" };
import upgrade from "../../../docs/guides/upgrade-and-backup.md" with { type: "text" };
import index from "../../../docs/index.md" with { type: "text" };
import cli from "../../../docs/reference/cli.md" with { type: "text" };
import clients from "../../../docs/reference/clients.md" with { type: "text" };
import configuration from "../../../docs/reference/configuration.md" with { type: "text" };
import errors from "../../../docs/reference/errors.md" with { type: "text" };
import providers from "../../../docs/reference/providers.md" with { type: "text" };
import engines from "../../../docs/reference/search-engines.md" with { type: "text" };
import vendorRules from "../../../docs/reference/vendor-rules.md" with { type: "text" };
import search from "../../../docs/search.md" with { type: "text" };
import web from "../../../docs/web.md" with { type: "text" };

/** A page, by its file below docs/. */
export interface ManualPage {
  readonly file: string;
  readonly text: string;
}

/** The pages in the order of the menu, by group. */
export const MANUAL: Readonly<Record<string, readonly ManualPage[]>> = {
  Guides: [
    { file: "guides/start.md", text: start },
    { file: "guides/sdks.md", text: sdks },
    { file: "guides/media.md", text: media },
    { file: "guides/agents.md", text: agents },
    { file: "guides/mcp.md", text: mcp },
    { file: "guides/applications.md", text: applications },
    { file: "guides/providers.md", text: providersGuide },
    { file: "guides/moving.md", text: moving },
    { file: "guides/firecrawl.md", text: firecrawl },
    { file: "guides/deployment.md", text: deployment },
    { file: "guides/operating.md", text: operating },
    { file: "guides/upgrade-and-backup.md", text: upgrade },
    { file: "guides/postgresql.md", text: postgresql },
    { file: "guides/several-nodes.md", text: severalNodes },
    { file: "guides/cache.md", text: cacheGuide },
    { file: "guides/metrics.md", text: metrics },
    { file: "guides/alerts.md", text: alertsGuide },
    { file: "guides/request-log.md", text: requestLog },
    { file: "guides/guardrails.md", text: guardrails },
    { file: "guides/chat-tools.md", text: chatTools },
    { file: "guides/limits-and-errors.md", text: limits },
    { file: "guides/security.md", text: security },
    { file: "guides/how-it-is-judged.md", text: judged },
    { file: "guides/not-offered.md", text: notOffered },
  ],
  Topics: [
    { file: "accounts.md", text: accounts },
    { file: "dashboard.md", text: dashboard },
    { file: "decisions.md", text: decisions },
    { file: "search.md", text: search },
    { file: "web.md", text: web },
  ],
  Reference: [
    { file: "reference/configuration.md", text: configuration },
    { file: "reference/cli.md", text: cli },
    { file: "reference/errors.md", text: errors },
    { file: "reference/providers.md", text: providers },
    { file: "reference/search-engines.md", text: engines },
    { file: "reference/clients.md", text: clients },
    { file: "reference/vendor-rules.md", text: vendorRules },
  ],
};

/** The overview, which stands at `/docs` itself. */
export const OVERVIEW: ManualPage = { file: "index.md", text: index };

/** The page's address: `guides/start.md` → `/docs/guides/start`. */
export function addressOf(file: string): string {
  return file === OVERVIEW.file ? "/docs" : `/docs/${file.replace(/\.md$/, "")}`;
}

/** The first heading. */
export function titleOf({ text, file }: ManualPage): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? file;
}
