// The style sheet of the public status page. It is inlined, and the page's content security policy contains its hash.

/** CSS, with the dashboard's colours. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--bg:light-dark(#fafaf9,#121311);--surface:light-dark(#fff,#1a1c19);--line:light-dark(#dcdcd7,#31342f);--text:light-dark(#1b1b18,#ecede8);--muted:light-dark(#5b5b54,#a3a79d);--ok:light-dark(#1c6b2f,#7fd494);--warn:light-dark(#8a5300,#f0b95b);--danger:light-dark(#b3261e,#ff9087);--none:light-dark(#b9b9b2,#5a5f56)}
*{box-sizing:border-box;margin:0}
body{background:var(--bg);color:var(--text);font:15px/1.5 ui-sans-serif,system-ui,sans-serif;padding:32px 16px 64px}
main{max-width:860px;margin:0 auto;display:grid;gap:20px;grid-template-columns:minmax(0,1fr)}
a{color:inherit}
h1{font-size:1.5rem}h2{font-size:1.1rem}
section{display:grid;gap:12px;grid-template-columns:minmax(0,1fr);background:var(--surface);border:1px solid var(--line);border-radius:8px;padding:18px}
code{font-family:ui-monospace,monospace;font-size:.92em;overflow-wrap:anywhere}
.verdict{font-size:1.15rem;font-weight:600}
.ok{color:var(--ok)}.warn{color:var(--warn)}.danger{color:var(--danger)}.none{color:var(--muted)}
.hint,.ends,.legend{color:var(--muted);font-size:.87rem}
.models{list-style:none;padding:0;display:grid;gap:18px;grid-template-columns:minmax(0,1fr)}
.models li{display:grid;gap:5px;grid-template-columns:minmax(0,1fr)}
.name{display:flex;flex-wrap:wrap;justify-content:space-between;gap:2px 12px;font-weight:600}
.badge{font-size:.9rem;white-space:nowrap}
svg{display:block;width:100%;height:28px;forced-color-adjust:none}
path.ok,.key.ok{fill:var(--ok);background:var(--ok)}
path.warn,.key.warn{fill:var(--warn);background:var(--warn)}
path.danger,.key.danger{fill:var(--danger);background:var(--danger)}
path.none,.key.none{fill:var(--none);background:var(--none)}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px}
.legend span{display:inline-flex;align-items:center;gap:6px}
.key{width:11px;height:11px;border-radius:2px;display:inline-block;forced-color-adjust:none}
.ends{display:flex;justify-content:space-between}
.tables{display:grid;gap:20px;grid-template-columns:repeat(auto-fit,minmax(min(300px,100%),1fr));align-items:start}
table{border-collapse:collapse;width:100%}
caption{text-align:left;font-weight:600;padding-bottom:4px}
th,td{text-align:left;padding:5px 0;border-top:1px solid var(--line);font-weight:400}
thead th{color:var(--muted);font-size:.87rem;border:0}
.number{text-align:right;font-variant-numeric:tabular-nums;padding-left:12px;white-space:nowrap}
`;
