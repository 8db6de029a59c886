// The pages of the dashboard: the one list of their paths. The server answers these with the page and anything else with 404;
// the browser shows the component that ui/app.tsx names for each. CONTRIBUTING.md has a check list for adding one.

/** A page. */
export interface PageEntry {
  /** Its paths below the dashboard's; `*` stands for one segment. The first is its address in the menu, the others are former ones. */
  readonly paths: readonly [string, ...string[]];
  /** `guest` pages redirect signed-in users to the page that they wanted; `anyone` pages are shown to both. */
  readonly as: "guest" | "anyone" | "member" | "admin";
  /** Its label and icon in the menu. */
  readonly nav?: readonly [label: string, icon: string];
}

/** All pages, in the order of the menu. */
export const PAGES = {
  home: { paths: ["/"], as: "member", nav: ["Overview", "home"] },
  usage: { paths: ["/usage"], as: "member", nav: ["Usage", "chart"] },
  keys: { paths: ["/keys"], as: "member", nav: ["Keys", "key"] },
  projects: { paths: ["/projects"], as: "member", nav: ["Projects", "people"] },
  project: { paths: ["/projects/*"], as: "member" },
  log: { paths: ["/log"], as: "member", nav: ["Request log", "log"] },
  models: { paths: ["/models"], as: "member", nav: ["Models", "layers"] },
  playground: { paths: ["/playground"], as: "member", nav: ["Playground", "chat"] },
  web: { paths: ["/web"], as: "member", nav: ["Web tools", "globe"] },
  jobs: { paths: ["/jobs"], as: "member", nav: ["Jobs", "list"] },
  job: { paths: ["/jobs/*"], as: "member" },
  runs: { paths: ["/runs"], as: "member", nav: ["Agent runs", "pulse"] },
  run: { paths: ["/runs/*"], as: "member" },
  threads: { paths: ["/threads"], as: "member", nav: ["Threads", "thread"] },
  thread: { paths: ["/threads/*/*"], as: "member" },
  account: { paths: ["/account"], as: "member", nav: ["Account", "person"] },
  gateway: { paths: ["/admin"], as: "admin", nav: ["Gateway", "pulse"] },
  accounts: { paths: ["/admin/accounts"], as: "admin", nav: ["Accounts", "people"] },
  oneAccount: { paths: ["/admin/accounts/*"], as: "admin" },
  openJobs: { paths: ["/admin/jobs"], as: "admin", nav: ["Running jobs", "list"] },
  adminModels: { paths: ["/admin/models"], as: "admin", nav: ["Models", "layers"] },
  decisions: { paths: ["/admin/decisions"], as: "admin", nav: ["Decisions", "scale"] },
  decisionVersion: { paths: ["/admin/decisions/*"], as: "admin" },
  providers: { paths: ["/admin/providers"], as: "admin", nav: ["Providers", "cloud"] },
  engines: { paths: ["/admin/engines"], as: "admin", nav: ["Search engines", "search"] },
  storage: { paths: ["/admin/storage"], as: "admin", nav: ["Storage", "disk"] },
  audit: { paths: ["/admin/audit"], as: "admin", nav: ["Audit log", "shield"] },
  config: { paths: ["/admin/config"], as: "admin", nav: ["Configuration", "sliders"] },
  login: { paths: ["/login"], as: "guest" },
  // Sign-up continues with the verification code after the account has been created.
  signup: { paths: ["/signup"], as: "anyone" },
  forgot: { paths: ["/forgot"], as: "anyone" },
} as const satisfies Readonly<Record<string, PageEntry>>;

/** The name of a page. */
export type PageName = keyof typeof PAGES;

const NAMES = Object.keys(PAGES) as PageName[];

const PATTERNS = NAMES.flatMap((name) =>
  PAGES[name].paths.map((path) => ({ name, pattern: new RegExp(`^${path.replaceAll("*", "[^/]+")}$`) })),
);

/** The page at a path below the dashboard's; undefined if there is none. */
export function pageAt(path: string): PageName | undefined {
  const plain = path.replace(/(?<!\/)\/+$/, "") || "/";
  return PATTERNS.find(({ pattern }) => pattern.test(plain))?.name;
}

/** The pages in the menu of members or of admins: label, icon and path. */
export function menuOf(as: PageEntry["as"]) {
  return NAMES.flatMap((name) => {
    const page = PAGES[name];
    return page.as === as && "nav" in page ? [[...page.nav, page.paths[0]] as const] : [];
  });
}
