// Checks URLs and resolves them to addresses to which connections are allowed. Every address of a name is checked, and the caller
// connects to a checked address without another look-up, so that a second DNS answer (rebinding) has no effect.

import { networkInterfaces } from "node:os";
import { parseAddress } from "../base/ip-address.ts";
import { entryOf } from "../base/json-object.ts";
import { classifyAddress, isOneOf, parseCidr } from "./address.ts";
import type { Resolve } from "./resolve.ts";

/** Why a URL was refused. */
export type BlockReason = "malformed" | "scheme" | "userinfo" | "port" | "address";

/** The URL may not be requested. The message never reveals what a name resolved to. */
export class BlockedAddress extends Error {
  override name = "BlockedAddress";
  readonly reason: BlockReason;
  constructor(reason: BlockReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The operator's policy for addresses of pages. */
export interface AddressPolicy {
  readonly allowPrivateNetworks: boolean;
  /** Entries that are a host (with all of its ports), `host:port`, or a CIDR. */
  readonly allowHosts: readonly string[];
  /** Entries of the same form, to which webhooks and the callers' own headers may be sent as well. */
  readonly allowCallerData?: readonly string[] | undefined;
  /** The only allowed ports; if empty, all are allowed. */
  readonly ports: readonly number[];
}

/**
 * The purpose of a connection. The operator's allowed hosts only apply to navigation: that their pages may be read does not mean
 * that strangers may write to them.
 */
export type Purpose = "navigation" | "subresource" | "webhook";

/** A URL with its checked addresses. */
export interface CheckedUrl {
  readonly url: URL;
  /** The host without brackets and without a trailing dot. */
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
  /** Whether headers that the caller of the API has chosen may be sent to it. */
  readonly takesCallerData: boolean;
}

/** Checks every fetch and every connection of the browser. */
export interface AddressGuard {
  /** Throws `BlockedAddress`, or `UnknownHost` if the name has no address. */
  check(url: string | URL, options?: { purpose?: Purpose; signal?: AbortSignal | undefined }): Promise<CheckedUrl>;
  /** Whether the operator's list names this host and port. Such a host is probably private. */
  isListed(host: string, port: number): boolean;
}

/**
 * Ports that browsers refuse to fetch from (Fetch standard, "port blocking"): those of mail, printing, X11, IRC and other
 * services that are not part of the web.
 */
const UNSAFE_PORTS = new Set(
  (
    "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 " +
    "137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 " +
    "1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080"
  )
    .split(" ")
    .map(Number),
);

/** Names of metadata services, which are refused whatever they resolve to. */
const METADATA_HOSTS = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata",
  "instance-data",
  "instance-data.ec2.internal",
  "metadata.azure.internal",
  "metadata.tencentyun.com",
]);

const SCHEME_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443, "ws:": 80, "wss:": 443 };

/** How long the machine's own addresses are cached. */
const OWN_KNOWN_MS = 10_000;

/** The addresses of this machine. Services that listen there may be meant for this machine alone, behind a firewall. */
function ownAddresses(): () => readonly string[] {
  let known: readonly string[] = [];
  let readMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - readMs < OWN_KNOWN_MS) return known;
    readMs = performance.now();
    known = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
    return known;
  };
}

/**
 * Creates the guard from the operator's policy. `own` returns the machine's addresses, which count as private. Throws for an
 * invalid entry of a list.
 */
export function createAddressGuard(policy: AddressPolicy, resolve: Resolve, own = ownAddresses()): AddressGuard {
  const allow = readAllowList(policy.allowHosts);
  const lists: Readonly<Record<Purpose, AllowList>> = {
    navigation: allow,
    subresource: readAllowList([]),
    webhook: readAllowList(policy.allowCallerData ?? []),
  };

  const permits = (address: string, { host, port }: { host: string; port: number }, purpose: Purpose) => {
    const kind = classifyAddress(address);
    if (kind === "global" && !isOneOf(address, own())) return true;
    if (kind !== "private" && kind !== "global") return false;
    if (policy.allowPrivateNetworks) return true;
    const list = lists[purpose];
    return names(list, host, port) || list.cidrs.some((inside) => inside(address));
  };

  const check: AddressGuard["check"] = async (input, options = {}) => {
    const read = readUrl(input);
    const { host, port } = read;
    if (METADATA_HOSTS.has(host)) throw new BlockedAddress("address", "This address may not be fetched.");
    const purpose = options.purpose ?? "navigation";
    const isListedPort = names(purpose === "webhook" ? lists.webhook : allow, host, port);
    if (UNSAFE_PORTS.has(port) || (policy.ports.length > 0 && !policy.ports.includes(port) && !isListedPort))
      throw new BlockedAddress("port", `Port ${port} may not be fetched.`);
    const addresses = await resolve(host, options.signal);
    // All addresses are checked and not just the first, since rebinding starts with a mixed answer.
    if (!addresses.every((address) => permits(address, read, purpose)))
      throw new BlockedAddress(
        "address",
        "This address may not be fetched, because it leads to a private network. The operator can allow it in " +
          `web.${purpose === "webhook" ? "allow_caller_data" : "allow_hosts"}.`,
      );
    const takesCallerData = addresses.every((address) => permits(address, read, "webhook"));
    return { ...read, addresses, takesCallerData };
  };
  return { check, isListed: (host, port) => names(allow, host, port) };
}

function names(list: AllowList, host: string, port: number): boolean {
  return list.hosts.has(host) || list.hostPorts.has(`${host}:${port}`) || list.cidrs.some((inside) => inside(host));
}

/** Parses a URL once, by the WHATWG rules, which normalise unusual spellings of addresses. All later code uses the result. */
function readUrl(input: string | URL): { url: URL; host: string; port: number } {
  const url = typeof input === "string" ? (URL.canParse(input) ? new URL(input) : undefined) : input;
  if (url === undefined) throw new BlockedAddress("malformed", "This is not a URL.");
  const defaultPort = entryOf(SCHEME_PORTS, url.protocol);
  if (defaultPort === undefined) throw new BlockedAddress("scheme", "Only http and https URLs can be fetched.");
  if (url.username !== "" || url.password !== "")
    throw new BlockedAddress("userinfo", "A URL must not contain a user name or password.");
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/(?<!\.)\.+$/, "");
  if (host === "") throw new BlockedAddress("malformed", "The URL has no host.");
  return { url, host, port: url.port === "" ? defaultPort : Number(url.port) };
}

interface AllowList {
  readonly hosts: ReadonlySet<string>;
  readonly hostPorts: ReadonlySet<string>;
  readonly cidrs: readonly ((address: string) => boolean)[];
}

function readAllowList(entries: readonly string[]): AllowList {
  const hosts = new Set<string>();
  const hostPorts = new Set<string>();
  const cidrs: ((address: string) => boolean)[] = [];
  for (const entry of entries) {
    const cidr = entry.includes("/") ? parseCidr(entry) : undefined;
    if (cidr !== undefined) {
      cidrs.push(cidr);
      continue;
    }
    const isBareV6 = !entry.startsWith("[") && parseAddress(entry)?.length === 16;
    const text = `http://${isBareV6 ? `[${entry}]` : entry}/`;
    if (entry.includes("/") || !URL.canParse(text)) throw new Error(`not a host, host:port or CIDR: ${entry}`);
    const url = new URL(text);
    const host = url.hostname.replace(/^\[|\]$/g, "").replace(/(?<!\.)\.+$/, "");
    // The URL parser drops ":80", so the port is read from the text.
    const port = isBareV6 ? undefined : /:(\d+)$/.exec(entry.replace(/^\[.*\]/, ""))?.[1];
    if (port === undefined) hosts.add(host);
    else hostPorts.add(`${host}:${port}`);
  }
  return { hosts, hostPorts, cidrs };
}
