// The files by which a system's supervisor runs the gateway, as text.

/** How the gateway is started. */
export interface ServicePlan {
  /** The program and its first arguments, without `serve`. */
  readonly program: readonly string[];
  readonly config: string;
  readonly dataDir: string;
}

/** A unit of systemd for the whole machine, without rights that the gateway does not need. */
export function systemUnit(plan: ServicePlan): string {
  return unit(plan, [
    "EnvironmentFile=-/etc/sallyport/env",
    "DynamicUser=yes",
    "StateDirectory=sallyport",
    "StateDirectoryMode=0700",
    "RuntimeDirectory=sallyport",
    "UMask=0077",
    "NoNewPrivileges=yes",
    "CapabilityBoundingSet=CAP_NET_BIND_SERVICE",
    "AmbientCapabilities=CAP_NET_BIND_SERVICE",
    "ProtectSystem=strict",
    "ProtectHome=yes",
    "ProtectProc=invisible",
    "ProcSubset=pid",
    "ProtectClock=yes",
    "ProtectControlGroups=yes",
    "ProtectHostname=yes",
    "ProtectKernelLogs=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelTunables=yes",
    "PrivateDevices=yes",
    "PrivateTmp=yes",
    "RemoveIPC=yes",
    "LockPersonality=yes",
    "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "# A browser on this machine starts with its sandbox only after `RestrictNamespaces=no` and",
    "# `SystemCallFilter=@mount @chown`, in an override (`systemctl edit sallyport`).",
    "RestrictNamespaces=yes",
    "SystemCallArchitectures=native",
    "SystemCallFilter=@system-service",
    "SystemCallFilter=~@privileged @resources",
    "SystemCallErrorNumber=EPERM",
  ]);
}

/** A unit of systemd for one person, who may write no others. */
export function userUnit(plan: ServicePlan): string {
  return unit(plan, ["UMask=0077", "NoNewPrivileges=yes"]).replace("multi-user.target", "default.target");
}

function unit({ program, config, dataDir }: ServicePlan, own: readonly string[]): string {
  const words = [...program, "serve", "--config", config, "--data-dir", dataDir].map(unitWord).join(" ");
  return `[Unit]
Description=Sallyport AI gateway
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart=${words}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
WatchdogSec=60
# The start after an update copies and upgrades the database.
TimeoutStartSec=1h
# Open streams may finish: longer than server.drain_timeout.
TimeoutStopSec=45
${own.join("\n")}

[Install]
WantedBy=multi-user.target
`;
}

/**
 * A word of a command line: quoted where it must be, with the characters doubled that systemd would replace. A line break in it does
 * not end the line.
 */
function unitWord(word: string): string {
  const plain = word.replaceAll("%", "%%").replaceAll("$", "$$$$");
  if (/^[\w%$@:,./+=-]+$/.test(plain)) return plain;
  const quoted = plain.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return `"${quoted.replaceAll(/\p{Cc}/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`)}"`;
}

/** An agent of launchd. */
export function launchdPlist({ program, config, dataDir }: ServicePlan): string {
  const text = (value: string) => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const words = [...program, "serve", "--config", config, "--data-dir", dataDir];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>io.sallyport.gateway</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${text(word)}</string>`).join("\n")}
  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>45</integer>
  <key>StandardErrorPath</key><string>${text(dataDir)}/sallyport.log</string>
</dict>
</plist>
`;
}
