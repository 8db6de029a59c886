// The formats of configuration texts besides durations and sizes: their syntax, and their names in messages.

import { ipVersion } from "../base/ip-address.ts";

interface Format {
  readonly expected: string;
  accepts(text: string): boolean;
}

/** Every format, by the name a schema node uses. */
export const VALUE_FORMATS = {
  url: { expected: "a URL", accepts: (text) => isUrl(text, ["http:", "https:"]) },
  page_origin: {
    expected: "an origin such as https://app.example.com",
    accepts: (text) => isUrl(text, ["http:", "https:"]) && new URL(text).origin === text,
  },
  smtp: {
    expected: "a URL such as smtp://host:587 or smtps://host",
    accepts: (text) => isUrl(text, ["smtp:", "smtps:"]),
  },
  redis: {
    expected: "a URL such as redis://host:6379 or rediss://:password@host",
    accepts: (text) => isUrl(text, ["redis:", "rediss:"]),
  },
  postgres: {
    expected: "a URL such as postgres://user:password@host/name",
    accepts: (text) => isUrl(text, ["postgres:", "postgresql:"]),
  },
  browser: {
    expected: "a ws://, wss:// or http:// URL",
    accepts: (text) => isUrl(text, ["ws:", "wss:", "http:", "https:"]),
  },
  cidr: { expected: "an IP address or a CIDR range such as 10.0.0.0/8", accepts: isCidr },
  destination: { expected: "a host, host:port or CIDR range", accepts: isDestination },
  resolver: { expected: "an address such as 127.0.0.1:53 or [::1]:53", accepts: isResolver },
  host: { expected: "a host name or IP address", accepts: isHost },
  origin: { expected: "host:port", accepts: isHostAndPort },
  header: {
    expected: "a one-line header value",
    accepts: (text) => !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text),
  },
  mailbox: { expected: "a mailbox such as Name <name@host>", accepts: isMailbox },
  mail_address: {
    expected: "an address such as name@example.com",
    accepts: (text) => /^[^\s@<>",;]+@[^\s@<>",;]+$/.test(text),
  },
  path: { expected: "a path that starts with /", accepts: (text) => /^\/[^\s?#]*$/.test(text) },
  // A blank in a key is a line that was wrapped, or two keys.
  key: { expected: "a key without blanks", accepts: (text) => /^\S+$/.test(text.trim()) },
  text: { expected: "non-empty text", accepts: (text) => text.trim() !== "" },
} as const satisfies Record<string, Format>;

/** A format's name. */
export type FormatName = keyof typeof VALUE_FORMATS;

function isUrl(text: string, protocols: readonly string[]): boolean {
  if (/\s/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return protocols.includes(url.protocol) && url.hostname !== "";
}

function isCidr(text: string): boolean {
  const [address, bits, ...more] = text.split("/");
  const version = ipVersion(address ?? "");
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function isPort(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

function isHost(text: string): boolean {
  if (ipVersion(text.replace(/^\[(.*)\]$/, "$1")) !== 0) return true;
  // All digits and dots, but not an address: a mistyped address rather than a name.
  if (/^[\d.]+$/.test(text) || text.length > 253) return false;
  return text.split(".").every((label) => /^[\p{L}\p{N}_](?:[\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?$/u.test(label));
}

function isHostAndPort(text: string): boolean {
  const colon = text.lastIndexOf(":");
  const host = text.slice(0, Math.max(colon, 0));
  // A bare IPv6 address contains colons: with a port it needs brackets.
  return colon > 0 && isPort(text.slice(colon + 1)) && isHost(host) && (!host.includes(":") || host.startsWith("["));
}

function isDestination(text: string): boolean {
  return isCidr(text) || isHost(text) || isHostAndPort(text);
}

function isResolver(text: string): boolean {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text);
  return match !== null && ipVersion(match[1] ?? match[2] ?? "") !== 0 && isPort(match[3]);
}

function isMailbox(text: string): boolean {
  const address = /^[^<>\r\n]*<([^<>]+)>$/.exec(text)?.[1] ?? text;
  return /^[^\s@<>]+@[^\s@<>]+$/.test(address);
}
