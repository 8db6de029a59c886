// One listing of three lines, the second of which is empty, as each highlighter builds it.

/** The code that every listing shows. */
export const CODE = "alpha(1)\n\n  beta()";

/** One highlighter's markup, and the language that it names. */
export interface Listing {
  readonly name: string;
  readonly html: string;
  readonly language: string;
}

const LINES = ["alpha(1)", "", "  beta()"];
const spaced = LINES.map((line) => line.replace(/^ +/, (blanks) => `<span class="w">${blanks}</span>`));

/** Writes each line with its number from 1. */
function each(write: (line: string, number: number) => string, joint = ""): string {
  return spaced.map((line, at) => write(line, at + 1)).join(joint);
}

/** Every highlighter. */
export const LISTINGS: readonly Listing[] = [
  {
    name: "Chroma with inline numbers",
    language: "js",
    html: `<div class="highlight"><pre tabindex="0" class="chroma"><code class="language-js" data-lang="js">${each((line, number) => `<span class="line"><span class="ln">${number}</span><span class="cl">${line}\n</span></span>`)}</code></pre></div>`,
  },
  {
    name: "Chroma with styled numbers",
    language: "js",
    html: `<div class="highlight"><pre tabindex="0" style="color:#fff"><code class="language-js" data-lang="js">${each((line, number) => `<span style="display:flex;"><span style="white-space:pre;-webkit-user-select:none;user-select:none;margin-right:0.4em;color:#7f7f7f">${number}</span><span>${line}\n</span></span>`)}</code></pre></div>`,
  },
  {
    name: "Chroma with a table of numbers",
    language: "js",
    html: `<div class="highlight"><div class="chroma"><table class="lntable"><tr><td class="lntd"><pre tabindex="0" class="chroma"><code>${each((_, number) => `<span class="lnt">${number}\n</span>`)}</code></pre></td><td class="lntd"><pre tabindex="0" class="chroma"><code class="language-js" data-lang="js">${each((line) => `<span class="line"><span class="cl">${line}\n</span></span>`)}</code></pre></td></tr></table></div></div>`,
  },
  {
    name: "Expressive Code with a gutter",
    language: "js",
    html: `<div class="expressive-code"><figure class="frame"><figcaption class="header"></figcaption><pre data-language="js"><code>${each((line, number) => `<div class="ec-line"><div class="gutter"><div class="ln" aria-hidden="true">${number}</div></div><div class="code">${line === "" ? "\n" : `<span style="--0:#fff">${line}</span>`}</div></div>`)}</code></pre><div class="copy"><button title="Copy to clipboard"><div></div></button></div></figure></div>`,
  },
  {
    name: "Expressive Code",
    language: "js",
    html: `<div class="expressive-code"><figure class="frame"><figcaption class="header"></figcaption><pre data-language="js"><code>${each((line) => `<div class="ec-line"><div class="code">${line === "" ? "\n" : `<span style="--0:#fff">${line}</span>`}</div></div>`)}</code></pre></figure></div>`,
  },
  {
    name: "Crayon",
    language: "js",
    html: `<div class="crayon-syntax"><div class="crayon-toolbar"><span class="crayon-title"></span><div class="crayon-tools"><div class="crayon-button"></div><span class="crayon-language">JS</span></div></div><div class="crayon-main"><table class="crayon-table"><tr class="crayon-row"><td class="crayon-nums"><div class="crayon-nums-content">${each((_, number) => `<div class="crayon-num">${number}</div>`)}</div></td><td class="crayon-code"><div class="crayon-pre">${each((line) => `<div class="crayon-line">${line || "&nbsp;"}</div>`)}</div></td></tr></table></div></div>`,
  },
  {
    name: "SyntaxHighlighter",
    language: "js",
    html: `<div><div id="highlighter_1" class="syntaxhighlighter js"><div class="toolbar"><span><a href="#" class="toolbar_item">?</a></span></div><table border="0"><tbody><tr><td class="gutter">${each((_, number) => `<div class="line number${number}">${number}</div>`)}</td><td class="code"><div class="container">${LINES.map((line, at) => `<div class="line number${at + 1}">${line === "" ? "&nbsp;" : `${line.startsWith(" ") ? '<code class="js spaces">&nbsp;&nbsp;</code>' : ""}<code class="js plain">${line.trim()}</code>`}</div>`).join("")}</div></td></tr></tbody></table></div></div>`,
  },
  {
    name: "GitLab and Gitea",
    language: "",
    html: `<div class="file-view code-view"><table><tbody>${each((line, number) => `<tr><td id="L${number}" class="lines-num"><span data-line-number="${number}"></span></td><td class="lines-code chroma"><code class="code-inner">${line}\n</code></td></tr>`)}</tbody></table></div>`,
  },
  {
    name: "GitHub",
    language: "js",
    html: `<table class="highlight tab-size js-file-line-container" data-lang="js"><tbody>${each((line, number) => `<tr><td class="blob-num js-line-number" data-line-number="${number}"></td><td class="blob-code blob-code-inner js-file-line">${line || "\n"}</td></tr>`)}</tbody></table>`,
  },
  {
    name: "Pygments with inline numbers",
    language: "js",
    html: `<div class="highlight-js notranslate"><div class="highlight"><pre>${each((line, number) => `<span class="linenos">${number}</span>${line}`, "\n")}\n</pre></div></div>`,
  },
  {
    name: "Pygments with old inline numbers",
    language: "js",
    html: `<div class="highlight-js"><div class="highlight"><pre>${each((line, number) => `<span class="lineno">${number} </span>${line}`, "\n")}\n</pre></div></div>`,
  },
  {
    name: "Sphinx with a table of numbers",
    language: "js",
    html: `<div class="highlight-js notranslate"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1\n2\n3</pre></div></td><td class="code"><div class="highlight"><pre>${each((line) => line, "\n")}\n</pre></div></td></tr></table></div>`,
  },
  {
    name: "Rouge",
    language: "js",
    html: `<div class="language-js highlighter-rouge"><div class="highlight"><pre class="highlight"><code><table class="rouge-table"><tbody><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2\n3\n</pre></td><td class="rouge-code"><pre>${each((line) => line, "\n")}\n</pre></td></tr></tbody></table></code></pre></div></div>`,
  },
  {
    name: "react-syntax-highlighter",
    language: "js",
    html: `<pre style="display:block"><code class="language-js" style="white-space:pre">${each((line, number) => `<span style="display:flex"><span class="linenumber react-syntax-highlighter-line-number" style="user-select:none">${number}</span><span>${line}</span>\n</span>`)}</code></pre>`,
  },
  {
    name: "Prism",
    language: "js",
    html: `<pre class="line-numbers language-js"><code class="language-js">${each((line) => line, "\n")}<span aria-hidden="true" class="line-numbers-rows"><span></span><span></span><span></span></span></code></pre>`,
  },
  {
    name: "highlightjs-line-numbers",
    language: "js",
    html: `<pre><code class="hljs language-js"><table class="hljs-ln"><tbody>${each((line, number) => `<tr><td class="hljs-ln-line hljs-ln-numbers" data-line-number="${number}"><div class="hljs-ln-n" data-line-number="${number}"></div></td><td class="hljs-ln-line hljs-ln-code" data-line-number="${number}">${line || "\n"}</td></tr>`)}</tbody></table></code></pre>`,
  },
  {
    name: "Docusaurus",
    language: "js",
    html: `<div class="language-js codeBlockContainer_x theme-code-block"><div class="codeBlockContent_x"><pre tabindex="0" class="prism-code language-js codeBlock_x"><code class="codeBlockLines_x">${each((line) => `<span class="token-line"><span class="token plain">${line}</span><br></span>`)}</code></pre><div class="buttonGroup_x"><button type="button" aria-label="Copy code to clipboard"><span>Copy</span></button></div></div></div>`,
  },
  {
    name: "rehype-pretty-code",
    language: "js",
    html: `<figure data-rehype-pretty-code-figure=""><pre tabindex="0" data-language="js" data-theme="x"><code data-language="js" data-theme="x" style="display:grid">${each((line) => `<span data-line="">${line || " "}</span>`, "\n")}</code></pre></figure>`,
  },
  {
    name: "MkDocs Material",
    language: "js",
    html: `<div class="language-js highlight"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre><span></span><span class="normal"><a href="#x-1">1</a></span>\n<span class="normal"><a href="#x-2">2</a></span>\n<span class="normal"><a href="#x-3">3</a></span></pre></div></td><td class="code"><div><pre><span></span><code>${each((line, number) => `<a id="x-${number}" name="x-${number}"></a>${line}`, "\n")}\n</code></pre></div></td></tr></table></div>`,
  },
  {
    name: "prettyprint",
    language: "js",
    html: `<pre class="prettyprint lang-js linenums prettyprinted"><ol class="linenums">${each((line, number) => `<li class="L${number - 1}">${line || "&nbsp;"}</li>`)}</ol></pre>`,
  },
];
