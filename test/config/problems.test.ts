import { describe, expect, test } from "bun:test";
import { configFolder } from "./support.ts";

const { good, bad } = configFolder();
const MODEL = "models: [{id: m, routes: [{provider: demo}]}]";

describe("each rule says what was expected", () => {
  const cases: [string, string][] = [
    // Kinds of value.
    ["server: 5", "server: expected a group of keys, got a number"],
    ["server: [1]", "server: expected a group of keys, got a list"],
    ["models: {a: 1}", "models: expected a list, got a group of keys"],
    ["models: text", "models: expected a list, got text"],
    ["server: {port: '80'}", 'server.port: expected a whole number from 0 to 65535, got "80"'],
    ["server: {port: 1.5}", "server.port: expected a whole number from 0 to 65535, got 1.5"],
    ["server: {port: -1}", "server.port: expected a whole number from 0 to 65535, got -1"],
    ["server: {port: 65536}", "server.port: expected a whole number from 0 to 65535, got 65536"],
    ["server: {port: [1]}", "server.port: expected a whole number from 0 to 65535, got a list"],
    ["usage: {flush: true}", "usage.flush: expected a duration such as 30s, got true"],
    ["search: {only: [wikipedia, askjeeves]}", 'search.only[1]: there is no search engine "askjeeves" (known: '],
    ["search: {only: [wikipedai]}", 'search.only[0]: there is no search engine "wikipedai" (did you mean wikipedia?)'],
    [
      "search: {engines: {gitub: {}}}",
      'search.engines.gitub: there is no search engine "gitub" (did you mean github?)',
    ],
    ["search: {engines: {github: {selectors: {title: 1}}}}", "search.engines.github.selectors.title: expected text"],
    ["search: {compat: {anonymous: [10.0.0.0/40]}}", "search.compat.anonymous[0]: expected an IP address or a CIDR"],
    [
      "decisions: {models: [{id: a, backend: {kind: logprob, routes: [{provider: demo}]}}]}",
      'decisions.models[0].backend.kind: there is no decision backend "logprob" (did you mean logprobs?)',
    ],
    ["search: {safe: 1}", "search.safe: expected true or false, got 1"],
    ["search: {safe: yes}", 'search.safe: expected true or false, got "yes"'],
    ["compaction: {model: 4}", "compaction.model: expected text, got 4 (put it in quotes)"],
    [
      "compaction: {model: text-embedding-3-small}",
      'compaction.model: expected a chat model, got "text-embedding-3-small", a model for embedding',
    ],
    ["compaction: {model: openai/sora-2}", 'compaction.model: expected a chat model, got "openai/sora-2", one that'],
    [
      "models: [{id: v, aliases: [vec], kind: embedding, routes: [{provider: demo}]}]\nweb: {model: VEC}",
      'web.model: expected a chat model, got "VEC", a model for embedding',
    ],
    [
      "models: [{id: plain, routes: [{provider: demo, model: whisper-1}]}]\ncompaction: {model: plain}",
      'compaction.model: expected a chat model, got "plain", a model for transcription',
    ],
    ["compaction: {threshold: 2}", "compaction.threshold: expected a number from 0.05 to 1, got 2"],
    ["auth: {signup: maybe}", 'auth.signup: expected one of open, invite, closed, oauth, got "maybe"'],
    ["data_dir: ''", 'data_dir: expected non-empty text, got ""'],
    // Durations and sizes.
    ["usage: {flush: 5}", "usage.flush: expected a duration such as 5s, got 5"],
    ["usage: {flush: '5'}", 'usage.flush: expected a duration such as 500ms, 15s, 10m, 24h or 30d, got "5"'],
    ["usage: {flush: 0s}", 'usage.flush: expected a duration of at least 1ms, got "0s"'],
    ["usage: {flush: -1s}", 'usage.flush: expected a duration such as 500ms, 15s, 10m, 24h or 30d, got "-1s"'],
    [
      "server: {request_timeout: 25d}",
      'server.request_timeout: expected a duration of at most 2147483647ms, got "25d"',
    ],
    ["usage: {retention: 29d}", "usage.retention: must be 0s or at least usage.rollup_after"],
    ["health: {interval: 10ms}", 'health.interval: expected a duration of at least 1000ms, got "10ms"'],
    ["server: {max_body: 20}", "server.max_body: expected a size such as 20MiB, got 20"],
    ["server: {max_body: 20M}", 'server.max_body: expected a size such as 64KiB or 20MiB, got "20M"'],
    ["server: {max_body: 1B}", 'server.max_body: expected a size of at least 1024 bytes, got "1B"'],
    ["web: {max_page: 2GiB}", 'web.max_page: expected a size of at most 1073741824 bytes, got "2GiB"'],
    ["web: {max_page: 1000000}", "web.max_page: expected a size such as 1000000B, got 1000000"],
    // Keys that stand twice.
    ["server: { port: 9000 }\nserver: { port: 9001 }", "line 2: server stands twice (first on line 1); merge the two"],
    ["server:\n  port: 1\n  host: a\n  port: 2", "line 4: server.port stands twice (first on line 2)"],
    ["server: { port: 1, port: 2 }", "line 1: server.port stands twice (first on line 1)"],
    ["models:\n  - id: a\n    id: b", "line 3: models[0].id stands twice (first on line 2)"],
    ['"server": {}\nserver: {}', "line 2: server stands twice (first on line 1)"],
    ['{"server": {"port": 1},\n "server": {"port": 2}}', "line 2: server stands twice (first on line 1)"],
    ['{"server":{"port":1,\n"port":2}}', "line 2: server.port stands twice (first on line 1)"],
    // A wrapped line, and two keys in one.
    [
      'providers: {openai: {api_key: "sk-abc\n def"}}',
      "providers.openai.api_key: expected a key without blanks, got ***",
    ],
    ["providers: {openai: {api_keys: [sk-a sk-b]}}", "providers.openai.api_keys[0]: expected a key without blanks"],
    // Formats.
    ["server: {public_url: foo}", 'server.public_url: expected a URL, got "foo"'],
    ["server: {public_url: 'ftp://x'}", 'server.public_url: expected a URL, got "ftp://x"'],
    ["server: {public_url: 'http://'}", 'server.public_url: expected a URL, got "http://"'],
    ["server: {public_url: 'http://a b'}", 'server.public_url: expected a URL, got "http://a b"'],
    ["server: {host: 'a b'}", 'server.host: expected a host name or IP address, got "a b"'],
    ["server: {host: 1.2.3}", 'server.host: expected a host name or IP address, got "1.2.3"'],
    ["server: {host: 'x:80'}", 'server.host: expected a host name or IP address, got "x:80"'],
    ["server: {host: ''}", 'server.host: expected non-empty text, got ""'],
    [
      "server: {trusted_proxies: [10.0.0.0/33]}",
      'server.trusted_proxies[0]: expected an IP address or a CIDR range such as 10.0.0.0/8, got "10.0.0.0/33"',
    ],
    [
      "server: {trusted_proxies: ['::1', 'fe80::/129']}",
      'server.trusted_proxies[1]: expected an IP address or a CIDR range such as 10.0.0.0/8, got "fe80::/129"',
    ],
    [
      "server: {trusted_proxies: [proxy]}",
      'server.trusted_proxies[0]: expected an IP address or a CIDR range such as 10.0.0.0/8, got "proxy"',
    ],
    ["web: {allow_hosts: ['a:0']}", 'web.allow_hosts[0]: expected a host, host:port or CIDR range, got "a:0"'],
    [
      "web: {allow_hosts: ['http://a']}",
      'web.allow_hosts[0]: expected a host, host:port or CIDR range, got "http://a"',
    ],
    ["web: {dns: [1.1.1.1]}", 'web.dns[0]: expected an address such as 127.0.0.1:53 or [::1]:53, got "1.1.1.1"'],
    ["web: {ports: [0]}", "web.ports[0]: expected a whole number from 1 to 65535, got 0"],
    ["web: {browser: {endpoint: x}}", 'web.browser.endpoint: expected a ws://, wss:// or http:// URL, got "x"'],
    ["email: {from: nobody}", 'email.from: expected a mailbox such as Name <name@host>, got "nobody"'],
    ["auth: {oauth_redirects: [x]}", 'auth.oauth_redirects[0]: expected a URL, got "x"'],
    ['web: {user_agent: "a\\nb"}', 'web.user_agent: expected a one-line header value, got "a\\nb"'],
    // Unknown keys and names.
    ["prot: 1", "prot: unknown key"],
    ["serevr: {}", "serevr: unknown key (did you mean server?)"],
    [
      "server: {maintenance: {enable: true}}",
      "server.maintenance.enable: unknown key (did you mean server.maintenance.enabled?)",
    ],
    [
      "providers: {demo: {apikey: sk-abcdefgh}}",
      "providers.demo.apikey: unknown key (did you mean providers.demo.api_key?)",
    ],
    ["providers: {'a b': {}}", "providers.\"a b\": is not a valid name (allowed: letters, digits, '.', '_' and '-')"],
    [
      "providers: {__proto__: {}}",
      "providers.__proto__: is not a valid name (allowed: letters, digits, '.', '_' and '-')",
    ],
    ["tiers: {gold: {rpm: 1}}", "tiers.gold: unknown key"],
    ["tiers: {free: {budget: {period: 1d}}}", "tiers.free.budget.usd: is required"],
    ["tiers: {free: {budget: 5}}", "tiers.free.budget: "],
    ["tiers: {free: {rpm: 0}}", "tiers.free.rpm: expected a whole number from 1 to 1000000000, got 0"],
    // Providers.
    ["providers: {mine: {}}", 'providers.mine.base_url: is required ("mine" is not a preset: '],
    ["providers: {azure: {}}", 'providers.azure.base_url: is required (the preset "azure" has no base_url)'],
    ["providers: {mine: {base_url: foo}}", 'providers.mine.base_url: expected a URL, got "foo"'],
    ["providers: {mine: {preset: opnai}}", "providers.mine.preset: expected one of openai, anthropic, "],
    [
      "providers: {openai: {kind: chat}}",
      'providers.openai.kind: expected one of openai, openai-responses, anthropic, gemini, demo, systemone, openai-decisions, got "chat"',
    ],
    ["providers: {openai: {headers: {'a b': c}}}", 'providers.openai.headers."a b": is not a valid name'],
    ["providers: {openai: {retry: {base: 9s}}}", "providers.openai.retry.max: must not be less than base"],
    [
      "providers: {openai: {timeout: {idle: 0s}}}",
      'providers.openai.timeout.idle: expected a duration of at least 1ms, got "0s"',
    ],
    [
      "providers: {openai: {discover_tier: gold}}",
      'providers.openai.discover_tier: expected one of free, pro, premium, got "gold"',
    ],
    ["providers: {openai: sk-abcdefgh}", "providers.openai: expected a group of keys, got text"],
    // Models.
    ["models: [{routes: [{provider: demo}]}]", "models[0].id: is required"],
    ["models: [{id: '', routes: [{provider: demo}]}]", 'models[0].id: expected non-empty text, got ""'],
    ["models: [{id: a}]", "models[0].routes: is required"],
    ["models: [{id: a, routes: []}]", "models[0].routes: needs at least one entry"],
    ["models: [{id: a, routes: [{}]}]", "models[0].routes[0].provider: is required"],
    [
      "models: [{id: a, tier: gold, routes: [{provider: demo}]}]",
      'models[0].tier: expected one of free, pro, premium, got "gold"',
    ],
    [
      "models: [{id: a, context_length: 0, routes: [{provider: demo}]}]",
      "models[0].context_length: expected a whole number from 1 to 1000000000, got 0",
    ],
    ["models: [{id: a, aliases: [null], routes: [{provider: demo}]}]", "models[0].aliases[0]: is required"],
    [
      "models: [{id: a, kind: image, prices: {input: 1}, routes: [{provider: demo}]}]",
      "models[0].prices.output: is required",
    ],
    ["models: [{id: a, prices: {input: 1}, routes: [{provider: demo}]}]", "models[0].prices.output: is required"],
    [
      "providers: {openai: {}}\nmodels: [{id: a, routes: [{provider: opnai}]}]",
      'models[0].routes[0].provider: there is no provider "opnai" (did you mean openai?)',
    ],
    [
      "models: [{id: a, routes: [{provider: zzz}]}]",
      'models[0].routes[0].provider: there is no provider "zzz" (configured: demo)',
    ],
    [
      `${MODEL}\ndecisions: {models: [{id: M, backend: {routes: [{provider: demo}]}}]}`,
      'decisions.models[0].id: "M" is already taken by models[0].id',
    ],
    [
      "models: [{id: m, aliases: [x, M], routes: [{provider: demo}]}]",
      'models[0].aliases[1]: "M" is already taken by models[0].id',
    ],
    [
      "models: [{id: m, larger: M, routes: [{provider: demo}]}]",
      "models[0].larger: expected another model than this one",
    ],
    ["alerts: {webhook: http://127.0.0.1/}", "alerts.webhook_secret: is required: it signs what alerts.webhook gets"],
    ["alerts: {mail: [nobody]}", 'alerts.mail[0]: expected an address such as name@example.com, got "nobody"'],
    ["decisions: {models: [{id: a}]}", "decisions.models[0].backend: is required"],
    [
      "decisions: {models: [{id: a, backend: {routes: [{provider: demo, path: x}]}}]}",
      'decisions.models[0].backend.routes[0].path: expected a path that starts with /, got "x"',
    ],
    [
      "decisions: {models: [{id: a, backend: {limits: {questions: 0}, routes: [{provider: demo}]}}]}",
      "decisions.models[0].backend.limits.questions: expected a whole number of at least 1, got 0",
    ],
    [
      "decisions: {models: [{id: a, backend: {limits: {option: 26}, routes: [{provider: demo}]}}]}",
      'decisions.models[0].backend.limits: there is no limit "option" (did you mean options?)',
    ],
    [
      "decisions: {models: [{id: a, backend: {limits: {zzz: 26}, routes: [{provider: demo}]}}]}",
      'decisions.models[0].backend.limits: there is no limit "zzz" (known: questions, options, top_logprobs, chosen_tokens)',
    ],
    // Keys that need each other.
    [
      "auth: {oauth: {github: {client_id: a, client_secret: b, groups: [{group: g, tier: pro}]}}}",
      "auth.oauth.github.groups: needs an issuer",
    ],
    [
      "auth: {oauth: {google: {client_id: a, client_secret: b, groups: [{group: g}]}}}",
      "auth.oauth.google.groups[0]: gives nothing: name a project or a tier",
    ],
    ["auth: {oauth: {github: {client_id: a}}}", "auth.oauth.github.client_secret: is required together with client_id"],
    [
      "auth: {oauth: {okta: {client_id: a, client_secret: b, token_url: 'http://x'}}}",
      "auth.oauth.okta.authorize_url: is required without an issuer",
    ],
    ["web: {browser: {endpoint: 'ws://x:1'}}", "web.browser.proxy_address: is required together with endpoint"],
  ];
  test.each(cases)("%s", (text, message) => {
    expect(bad(text)[0]).toStartWith(message);
  });
  test("one line each, whatever the value holds", () => {
    for (const problem of bad('data_dir: [1]\nlog: {level: "a\\nb\\rc"}\n"x\\ny": 1'))
      expect(problem).not.toMatch(/[\r\n]/);
  });
  test("a key's own problem once", () => {
    expect(bad("providers: {mine: {base_url: foo}}")).toHaveLength(1);
  });
});

describe("what is right is taken", () => {
  const cases: string[] = [
    "server: {host: '::', port: 0, public_url: 'https://x.example/base', drain_timeout: 0s, trusted_proxies: [10.0.0.0/8, '::1', 'fd00::/8']}",
    "server: {host: '[::1]'}",
    "server: {host: my-host_1.local}",
    "health: {probe: off}",
    "health: {probe: false}",
    "web: {allow_hosts: [a, 'a:80', 10.0.0.0/8, '::1', '[::1]:80', bücher.example], dns: ['1.1.1.1:53', '[::1]:53'], ports: [80]}",
    "web: {browser: {endpoint: 'ws://x:1', proxy_address: 'host:8080'}}",
    "web: {browser: {endpoint: 'ws://x:1'}, allow_private_networks: true}",
    "email: {from: a@b, smtp_url: 'smtps://u:p@mail.example:465'}",
    "auth: {oauth: {okta: {issuer: 'https://x', client_id: a, client_secret: b}}}",
    "auth: {oauth: {gitea: {authorize_url: 'http://x/a', token_url: 'http://x/t', user_url: 'http://x/u', client_id: a, client_secret: b}}}",
    "providers: {mine: {enabled: false}}",
    "providers: {a: {preset: ollama}, 'b.c-d_e': {base_url: 'http://x'}}",
    "usage: {rollup_after: 3650d, flush: ' 1.5s '}",
  ];
  test.each(cases)("%s", (text) => expect(bad(text)).toEqual([]));
  test("durations in ms, sizes in bytes, names as the program uses them", () => {
    const config = good("usage: {flush: 1.5s}\nserver: {max_body: 64KiB}\nweb: {per_host_delay: 10ms, max_page: 1MB}");
    expect([
      config.usage.flushMs,
      config.server.maxBodyBytes,
      config.web.perHostDelayMs,
      config.web.maxPageBytes,
    ]).toEqual([1500, 65_536, 10, 1_000_000]);
  });
  test("a model's blanks are filled", () => {
    const [model] = good(MODEL).models;
    expect(model).toMatchObject({ id: "m", name: "m", ownedBy: "demo", tier: "free", visibility: "list", aliases: [] });
    expect(model?.routes).toEqual([{ provider: "demo", model: "m", priority: 1, weight: 1 }]);
    expect(model).not.toHaveProperty("contextLength");
  });
  test("a plan keeps the defaults it does not mention; 0s is no trial", () => {
    const runs = { usd: 0, requests: 0, repeats: 0, idleMs: 3_600_000, maxAgeMs: 86_400_000 };
    expect(good("tiers: {free: {rpm: 7}, pro: {trial: 1d}}").tiers).toEqual([
      { id: "free", rpm: 7, trialMs: 14 * 86_400_000, runs },
      { id: "pro", rpm: 120, trialMs: 86_400_000, runs },
      { id: "premium", rpm: 600, runs },
    ]);
    expect(good("tiers: {free: {trial: 0s, runs: {usd: 5}}}").tiers[0]).toEqual({
      id: "free",
      rpm: 20,
      runs: { ...runs, usd: 5 },
    });
    expect(good("tiers: {pro: {budget: {usd: 2.5}}}").tiers[1]).toEqual({
      id: "pro",
      rpm: 120,
      runs,
      budget: { usd: 2.5, periodMs: 30 * 86_400_000 },
    });
  });
  test("sign-in providers are those with a client_id, with the defaults of the known ones", () => {
    const { oauth } = good("auth: {oauth: {github: {client_id: a, client_secret: b, user_url: ''}, google: {}}}").auth;
    expect([...oauth.keys()]).toEqual(["github"]);
    expect(oauth.get("github")?.userUrl).toBe("https://api.github.com/user");
  });
  test("a calibration file is found beside the configuration", () => {
    const config = good(
      "decisions: {models: [{id: a, calibration: x.json, backend: {kind: logprobs, routes: [{provider: demo}]}}]}",
    );
    expect(config.decisions.models[0]).toMatchObject({
      calibration: expect.stringMatching(/^\/.*\/x\.json$/),
      backend: { kind: "logprobs", orders: 2, concurrency: 20, limits: {} },
    });
  });
});
