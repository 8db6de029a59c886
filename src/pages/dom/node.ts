// A light document tree of linked nodes that holds only what extraction and Markdown conversion need. Names follow the DOM, so
// that code written for the DOM (Turndown) can use this tree.

export const ELEMENT_NODE = 1;
export const TEXT_NODE = 3;

/** A node: the base of elements and texts, with its position among its siblings. */
export abstract class PageNode {
  abstract readonly nodeType: number;
  abstract readonly nodeName: string;
  parentNode: PageElement | null = null;
  previousSibling: PageNode | null = null;
  nextSibling: PageNode | null = null;
  abstract get firstChild(): PageNode | null;
  abstract get textContent(): string;
  abstract cloneNode(deep?: boolean): PageNode;

  /** Removes the node and everything below it from the tree. */
  remove(): void {
    const parent = this.parentNode;
    if (parent === null) return;
    if (this.previousSibling === null) parent.firstChild = this.nextSibling;
    else this.previousSibling.nextSibling = this.nextSibling;
    if (this.nextSibling === null) parent.lastChild = this.previousSibling;
    else this.nextSibling.previousSibling = this.previousSibling;
    this.parentNode = null;
    this.previousSibling = null;
    this.nextSibling = null;
  }
}

/** A run of text, with entities decoded. */
export class PageText extends PageNode {
  readonly nodeType = TEXT_NODE;
  readonly nodeName = "#text";
  readonly firstChild = null;
  data: string;

  constructor(data: string) {
    super();
    this.data = data;
  }

  get nodeValue(): string {
    return this.data;
  }

  get textContent(): string {
    return this.data;
  }

  override cloneNode(): PageText {
    return new PageText(this.data);
  }
}

/** Classes behind these are not looked at: they are read for each text below an element. The longest lists of real pages have 7,500. */
const CLASS_CHARS_MAX = 8000;

/** An element. Comments, doctypes and scripts are never part of the tree. */
export class PageElement extends PageNode {
  readonly nodeType = ELEMENT_NODE;
  /** The element's name in lower case. */
  readonly tag: string;
  readonly attributes: Record<string, string>;
  firstChild: PageNode | null = null;
  lastChild: PageNode | null = null;

  constructor(tag: string, attributes: Record<string, string> = {}) {
    super();
    this.tag = tag;
    this.attributes = attributes;
  }

  get nodeName(): string {
    return this.tag.toUpperCase();
  }

  get className(): string {
    const classes = this.attributes["class"] ?? "";
    return classes.length > CLASS_CHARS_MAX ? classes.slice(0, CLASS_CHARS_MAX) : classes;
  }

  get id(): string {
    return this.attributes["id"] ?? "";
  }

  getAttribute(name: string): string | null {
    return this.attributes[name] ?? null;
  }

  hasAttribute(name: string): boolean {
    return this.attributes[name] !== undefined;
  }

  setAttribute(name: string, value: string): void {
    this.attributes[name] = value;
  }

  /** A new array each time; loops over siblings are faster with `firstChild` and `nextSibling`. */
  get childNodes(): PageNode[] {
    const nodes: PageNode[] = [];
    for (let child = this.firstChild; child !== null; child = child.nextSibling) nodes.push(child);
    return nodes;
  }

  get children(): PageElement[] {
    return this.childNodes.filter((node): node is PageElement => node instanceof PageElement);
  }

  get lastElementChild(): PageElement | null {
    let node: PageNode | null = this.lastChild;
    while (node !== null && !(node instanceof PageElement)) node = node.previousSibling;
    return node;
  }

  get textContent(): string {
    let text = "";
    for (let node = this.firstChild; node !== null; node = following(node, this))
      if (node instanceof PageText) text += node.data;
    return text;
  }

  appendChild<T extends PageNode>(node: T): T {
    node.remove();
    node.parentNode = this;
    node.previousSibling = this.lastChild;
    if (this.lastChild === null) this.firstChild = node;
    else this.lastChild.nextSibling = node;
    this.lastChild = node;
    return node;
  }

  insertBefore<T extends PageNode>(node: T, before: PageNode | null): T {
    if (before === null) return this.appendChild(node);
    node.remove();
    node.parentNode = this;
    node.nextSibling = before;
    node.previousSibling = before.previousSibling;
    if (before.previousSibling === null) this.firstChild = node;
    else before.previousSibling.nextSibling = node;
    before.previousSibling = node;
    return node;
  }

  removeChild<T extends PageNode>(node: T): T {
    node.remove();
    return node;
  }

  /** Replaces the element with its children. */
  unwrap(): void {
    const parent = this.parentNode;
    if (parent === null) return;
    while (this.firstChild !== null) parent.insertBefore(this.firstChild, this);
    this.remove();
  }

  override cloneNode(deep = false): PageElement {
    const copy = new PageElement(this.tag, { ...this.attributes });
    if (deep)
      for (let child = this.firstChild; child !== null; child = child.nextSibling)
        copy.appendChild(child.cloneNode(true));
    return copy;
  }

  /** Descendants with this name, in document order. */
  getElementsByTagName(name: string): PageElement[] {
    const tag = name.toLowerCase();
    const found: PageElement[] = [];
    for (let node = this.firstChild; node !== null; node = following(node, this))
      if (node instanceof PageElement && node.tag === tag) found.push(node);
    return found;
  }
}

/** Every node below `root` in document order. The current node may be removed or unwrapped only after it was passed. */
export function* walk(root: PageElement): Generator<PageNode> {
  for (let node = root.firstChild; node !== null; node = following(node, root)) yield node;
}

/**
 * The node after this one in document order, within `root`. A loop with this function is several times faster than a generator.
 */
function following(node: PageNode, root: PageElement): PageNode | null {
  if (node.firstChild !== null) return node.firstChild;
  let at: PageNode | null = node;
  while (at !== null && at.nextSibling === null) at = at.parentNode === root ? null : at.parentNode;
  return at === null ? null : at.nextSibling;
}

/** Every node below `root` in document order, as an array, so that the tree may be changed while they are processed. */
export function nodesOf(root: PageElement): PageNode[] {
  const found: PageNode[] = [];
  for (let node = root.firstChild; node !== null; node = following(node, root)) found.push(node);
  return found;
}

/** All elements below `root` in document order, as an array, so that the tree may be changed while they are processed. */
export function elementsOf(root: PageElement): PageElement[] {
  const found: PageElement[] = [];
  for (let node = root.firstChild; node !== null; node = following(node, root))
    if (node instanceof PageElement) found.push(node);
  return found;
}

/** The nearest ancestor (not the node itself) for which `wanted` holds. */
export function closest(node: PageNode, wanted: (element: PageElement) => boolean): PageElement | undefined {
  for (let at = node.parentNode; at !== null; at = at.parentNode) if (wanted(at)) return at;
  return undefined;
}
