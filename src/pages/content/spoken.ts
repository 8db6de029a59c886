// Writes what controls and stars say as text: the choices of a product, and the value of a rating that is shown as stars.

import { closest, PageElement, type PageNode, PageText } from "../dom/node.ts";

const CHOICES = "product-choices";
/** A longer list is one of countries or dates. */
const CHOICES_MAX = 30;
const LABEL_CHARS_MAX = 40;
/** How many levels above a list of choices are searched for its label. */
const LABEL_LEVELS = 3;
/** Names of what can be chosen of a product. */
const CHOSEN =
  /options?\b|variant|variation|attribute|swatch|\bpa_|colou?rs?\b|farbe|couleur|\bsizes?\b|gr(?:ö|oe)(?:ß|ss)e|taille|talla|material|finish|flavou?r|scent|length|\bmodels?\b|\bpack\b|edition|capacity|storage/i;
const FILTER = /(?:^|[\s_-])(?:filter|sort|facet|search|order-?by|currency|language)/i;
/** Texts that ask for a choice. */
const PLACEHOLDER = /^\W*(?:(?:please )?(?:choose|select|pick)\b|bitte|wählen|choisi|elegir|elige)/i;

/** Labels by the id of the control that they name. */
export type LabelsById = ReadonlyMap<string, readonly PageElement[]>;

/** Maximum number of labels of one id. */
const LABELS_EACH_MAX = 4;

/** The labels of a page that name a control by its id, so that they are not searched for at each control. */
export function labelsById(body: PageElement): LabelsById {
  const labels = new Map<string, PageElement[]>();
  for (const label of body.getElementsByTagName("label")) {
    const id = label.attributes["for"] ?? "";
    const same = labels.get(id);
    if (same === undefined) labels.set(id, [label]);
    else if (same.length < LABELS_EACH_MAX) same.push(label);
  }
  return labels;
}

/** Replaces a list of a product's choices by their names. Returns false if it is another list. */
export function showChoices(select: PageElement, labels: () => LabelsById): boolean {
  const options = select.getElementsByTagName("option");
  if (options.length < 2 || options.length > CHOICES_MAX) return false;
  const label = labelOf(select, labels);
  if (label === undefined || isBesideContent(select)) return false;
  const { attributes, className, id } = select;
  if (!CHOSEN.test(`${label.text} ${attributes["name"] ?? ""} ${id} ${className}`)) return false;
  const names = options
    .map((option) => option.textContent.replace(/\s+/g, " ").trim())
    .filter((name) => name !== "" && !PLACEHOLDER.test(name));
  if (names.length === 0) return false;
  const isAround = label.element !== undefined && closest(select, (above) => above === label.element) !== undefined;
  const line = new PageElement(isAround ? "span" : "p", { class: CHOICES });
  const sign = label.text.endsWith(":") ? " " : ": ";
  line.appendChild(
    new PageText(`${isAround ? sign : label.element === undefined ? `${label.text}${sign}` : ""}${names.join(", ")}`),
  );
  const before = select.previousSibling;
  if (isAround && before instanceof PageText) before.data = before.data.trimEnd();
  select.parentNode?.insertBefore(line, select);
  select.remove();
  return true;
}

/** Whether an element shows the choices of a product. */
export function isChoices({ className }: PageElement): boolean {
  return className === CHOICES;
}

interface Label {
  readonly text: string;
  /** The element that shows it, if there is one. */
  readonly element?: PageElement;
}

function labelOf(select: PageElement, labels: () => LabelsById): Label | undefined {
  const around = closest(select, ({ tag }) => tag === "label");
  if (around !== undefined) return named(around.textContent.replace(select.textContent, ""), around);
  const own = select.id === "" ? [] : (labels().get(select.id) ?? []);
  let at: PageElement | null = select.parentNode;
  for (let level = 0; at !== null && level < LABEL_LEVELS && own.length > 0; level++, at = at.parentNode) {
    const label = own.find((one) => closest(one, (above) => above === at) !== undefined);
    if (label !== undefined) return named(label.textContent, label);
  }
  let before: PageNode | null = select.previousSibling;
  while (before instanceof PageText && before.data.trim() === "") before = before.previousSibling;
  const beside = before instanceof PageElement ? named(before.textContent, before) : undefined;
  const spoken = select.attributes["aria-label"] ?? "";
  return beside ?? (spoken.trim() === "" ? undefined : { text: spoken.trim() });
}

function named(text: string, element: PageElement): Label | undefined {
  const trimmed = text.replace(/\s+/g, " ").trim();
  return trimmed === "" || trimmed.length > LABEL_CHARS_MAX ? undefined : { text: trimmed, element };
}

/** Whether a control is in the frame of the page, or chooses what a listing shows. */
function isBesideContent(select: PageElement): boolean {
  const isFrame = ({ tag, className, attributes }: PageElement) =>
    /^(?:nav|header|footer|aside)$/.test(tag) || attributes["role"] === "search" || FILTER.test(className);
  return (
    FILTER.test(` ${select.attributes["name"] ?? ""} ${select.className}`) || closest(select, isFrame) !== undefined
  );
}

const STARS = /^[★☆⭐🌟✩✪✭✮⯨⯪½\s]+$/u;
const SPOKEN_CHARS_MAX = 60;

/** Replaces stars, which show only whole ones, by the rating that is said to those who cannot see them. */
export function sayRating(element: PageElement): boolean {
  const spoken = element.attributes["aria-label"]?.replace(/\s+/g, " ").trim() ?? "";
  if (
    !/\d/.test(spoken) ||
    spoken.length > SPOKEN_CHARS_MAX ||
    !STARS.test(element.textContent.replaceAll("\ufe0f", ""))
  )
    return false;
  while (element.firstChild !== null) element.firstChild.remove();
  element.appendChild(new PageText(spoken));
  return true;
}
