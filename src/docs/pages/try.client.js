// Gives each block of code a button that copies it, and lets a reader of the reference send requests to this gateway. The key is kept for the other pages of the documents until the tab is
// closed, and goes nowhere but to the address that the form names. Without scripts the forms stay hidden.

for (const block of document.querySelectorAll("pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy this block");
  // Beside the block and not in it, since it would scroll away with the text.
  const frame = document.createElement("div");
  frame.className = "block";
  block.replaceWith(frame);
  frame.append(block, button);
  button.addEventListener("click", async () => {
    button.textContent = (await copied(block)) ? "Copied" : "Press Ctrl+C";
    button.removeAttribute("aria-label");
    setTimeout(() => {
      button.textContent = "Copy";
      button.setAttribute("aria-label", "Copy this block");
    }, 2000);
  });
}

/** Browsers offer no clipboard over plain HTTP, so there a selection is copied. */
async function copied(block) {
  const text = block.textContent.replace(/\n$/, "");
  const done = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (done === true) return true;
  getSelection().selectAllChildren(block);
  return document.execCommand("copy");
}

const forms = document.querySelectorAll("form.send");
const KEPT = "sallyport_docs_key";
let key = recall();

/** The key that was kept. A browser that blocks the storage of a site throws at its name; the forms work without it. */
function recall() {
  try {
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

function keep() {
  try {
    sessionStorage.setItem(KEPT, key);
  } catch {
    // Blocked or full: the key is typed again on the next page.
  }
}

/** The field of the credential; a parameter of an endpoint may have the same name. */
function credentialOf(form) {
  return form.querySelector('input[type="password"][name="key"]');
}

for (const form of forms) {
  form.closest("details").hidden = false;
  const keyField = credentialOf(form);
  if (keyField !== null) keyField.value = key;
  keyField?.addEventListener("input", () => {
    key = keyField.value;
    keep();
    for (const other of forms) {
      const field = credentialOf(other);
      if (field !== null && field !== keyField) field.value = key;
    }
  });
  let sending;
  const stop = form.querySelector(".stop");
  stop.addEventListener("click", () => sending?.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    sending?.abort();
    sending = new AbortController();
    stop.hidden = false;
    await send(form, sending.signal);
    stop.hidden = true;
  });
}

async function send(form, signal) {
  const out = form.querySelector("output");
  const status = document.createElement("p");
  const text = document.createElement("pre");
  text.tabIndex = 0;
  status.textContent = "Sending…";
  out.replaceChildren(status, text);
  const started = performance.now();
  try {
    const response = await fetch(addressOf(form), { ...requestOf(form), signal });
    const ms = Math.round(performance.now() - started);
    status.textContent = `${response.status} after ${ms} ms · ${response.headers.get("x-request-id") ?? ""}`;
    await show(response, text);
  } catch (error) {
    status.textContent = signal.aborted ? "Stopped." : `The request failed: ${error.message}`;
  }
}

/** The path with its parameters and the query in place. */
function addressOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll("[data-in]")) {
    if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    if (field.dataset.in === "query" && field.value !== "") query.set(field.name, field.value);
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

function requestOf(form) {
  const headers = {};
  for (const field of form.querySelectorAll('[data-in="header"]')) {
    if (field.value !== "") headers[field.name] = field.value;
  }
  const body = form.elements.namedItem("body");
  if (key !== "" && credentialOf(form) !== null) headers.authorization = `Bearer ${key}`;
  if (body !== null) headers["content-type"] = "application/json";
  // The dashboard's session is no part of this.
  return { method: form.dataset.method, headers, credentials: "omit", ...(body === null ? {} : { body: body.value }) };
}

/** Text as it comes, so that a stream can be seen; JSON in lines. */
async function show(response, text) {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("image/")) {
    text.textContent = `(${type}, ${(await response.arrayBuffer()).byteLength} bytes)`;
    return;
  }
  if (type.includes("json")) {
    const body = await response.text();
    try {
      text.textContent = JSON.stringify(JSON.parse(body), null, 2);
    } catch {
      text.textContent = body;
    }
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text.append(value);
  }
}
