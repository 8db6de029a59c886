// The sessions and security events of an account, as its owner sees them.

import { isoTime } from "../../base/iso-time.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { Session } from "../../store/access/sessions.ts";

/** A session in the list. `currentId` is the current session. */
export function sessionView(session: Session, currentId: string) {
  return {
    id: session.id,
    device: deviceOf(session.userAgent),
    user_agent: session.userAgent,
    address: session.address,
    created_at: isoTime(session.createdAtMs),
    last_used_at: isoTime(session.lastUsedAtMs),
    expires_at: isoTime(session.expiresAtMs),
    current: session.id === currentId,
  };
}

/** An entry of the audit log in the list. */
export function auditView(entry: Awaited<ReturnType<AuditStore["listAudit"]>>[number]) {
  return {
    id: entry.id,
    event: entry.event,
    address: entry.address,
    device: deviceOf(entry.userAgent),
    detail: entry.detail,
    created_at: isoTime(entry.createdAtMs),
  };
}

// The order matters: a browser's user agent names the ones it is based on.
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** A common name: "Firefox on Linux", "curl", "unknown". */
export function deviceOf(userAgent: string): string {
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return /^[\w.-]{1,40}/.exec(userAgent)?.[0] ?? "unknown";
}
