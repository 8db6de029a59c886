// Pages that need a browser: scripts, frames, shadow trees, and pages that are far too large.

/** Pages with visible content, by path. */
export function shown(pathname: string, searchParams: URLSearchParams): Response | undefined {
  switch (pathname) {
    case "/app.js":
      return new Response(`document.getElementById("root").innerHTML = "<p>drawn by a script</p>"`, {
        headers: { "content-type": "text/javascript" },
      });
    case "/app":
      return html('<div id="root"></div><script src="/app.js"></script>');
    case "/late":
      return script(`setTimeout(() => { document.getElementById("out").textContent = "late text" }, 200)`);
    case "/endless":
      return script(`setInterval(() => { document.getElementById("out").textContent = "tick " + Math.random() }, 20)`);
    case "/dialogs":
      return script(
        `alert(1); confirm(2); window.open("/app"); document.getElementById("out").textContent = "past the dialogs"`,
      );
    case "/shadow":
      return script(
        `const h = document.body.appendChild(document.createElement("x-y")); h.attachShadow({ mode: "open" }).innerHTML = "<p>in the shadow</p>"`,
      );
    case "/framed":
      return html(`<iframe src="/frame" width="500" height="300"></iframe>`);
    case "/frame":
      return html(
        `<p>${searchParams.get("name") ?? ""} ${"text of the inner frame, long enough to count. ".repeat(5)}</p>`,
      );
    case "/frames-late":
      return script(`const add = (src, first) => { const f = document.createElement("iframe"); f.width = 500; f.height = 300; f.src = src; first ? document.body.prepend(f) : document.body.append(f); return f; };
        add("/frame?name=first").onload = () => add("/frame?name=second", true);
        const host = document.body.appendChild(document.createElement("x-z")); host.attachShadow({ mode: "open" }).innerHTML = '<iframe width=500 height=300 src="/frame?name=third"></iframe>';`);
    case "/huge":
      return script(
        `const hidden = document.body.appendChild(document.createElement("div")); hidden.hidden = true; for (let i = 0; i < 10; i++) hidden.append(document.createElement("p"), "word ".repeat(${Number(searchParams.get("mb"))} * 20_000))`,
      );
    case "/huge-shadow":
      return script(
        `const h = document.body.appendChild(document.createElement("x-y")); h.attachShadow({ mode: "open" }).innerHTML = "<p hidden>" + "word ".repeat(600_000) + "</p>"`,
      );
    case "/huge-attribute":
      return script(`document.body.setAttribute("data-x", "y".repeat(3_000_000))`);
    case "/huge-frame":
      return html('<p>outer</p><iframe src="/huge?mb=3" width="500" height="300"></iframe>');
    case "/liar":
      return script(`const long = () => "z".repeat(50_000_000); Element.prototype.getHTML = long; document.createTreeWalker = () => ({ nextNode: () => null });
        window.Promise = class { constructor() {} then(done) { done(long()); } }; String.prototype.slice = long; document.getElementById("out").textContent = "lies";`);
    case "/window":
      return script(
        `const media = matchMedia("(min-width: 1000px)").matches; requestAnimationFrame(() => requestAnimationFrame(() => { document.getElementById("out").textContent = [innerWidth, innerHeight, screen.width, document.visibilityState, document.hasFocus(), media, devicePixelRatio, document.body.getBoundingClientRect().width].join(" "); }));`,
      );
    case "/form":
      return html(
        '<form><input name="attributes"><input name="shadowRoot"><input name="nodeType"></form><p>after the form</p>',
      );
    case "/busy":
      return html("<p>before</p><script>for (;;);</script>");
    case "/wide":
      return html('<div style="width:90000px;height:90000px;background:linear-gradient(45deg,red,blue)">wide</div>');
    case "/download":
      return new Response("bytes", { headers: { "content-disposition": 'attachment; filename="x.bin"' } });
    case "/popups":
      return script(
        `for (let i = 0; i < 200; i++) window.open("/popup?" + i); const a = document.createElement("a"); a.target = "_blank"; a.href = "/popup?link"; document.body.append(a); a.click(); document.getElementById("out").textContent = "past the pop-ups";`,
      );
    case "/worker":
      return script(
        `navigator.serviceWorker.register("/worker.js").then(() => "registered", () => "refused").then((text) => { document.getElementById("out").textContent = text; });`,
      );
    case "/lazy":
      return html(
        `<div style="height:4000px">top</div><div id="late">waiting</div><script>new IntersectionObserver(([entry]) => { if (entry.isIntersecting) document.getElementById("late").textContent = "came into view"; }).observe(document.getElementById("late"));</script>`,
      );
    case "/endless-scroll":
      return script(
        `document.body.style.height = "3000px"; let n = 0; addEventListener("scroll", () => { for (let i = 0; i < 20; i++) { const p = document.createElement("p"); p.textContent = "item " + n++; document.body.append(p); } document.body.style.height = 3000 + n * 500 + "px"; });`,
      );
    default:
      return undefined;
  }
}

/** A page. */
export function html(text: string): Response {
  return new Response(`<!doctype html><title>t</title><body>${text}`, { headers: { "content-type": "text/html" } });
}

/** A page whose script creates the content. */
export function script(code: string): Response {
  return html(`<div id="out">waiting</div><script>${code}</script>`);
}
