// The variables by which an environment names a proxy.

const NAMES = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"];

/** Whether the environment names a proxy for calls to providers. */
export function namesProxy(env: Readonly<Record<string, string | undefined>>): boolean {
  return NAMES.some((name) => (env[name] ?? "") !== "");
}
