// What the names of an element say of its purpose, by words that many sites use.

import type { PageElement } from "../dom/node.ts";

/** Words in the class, id or role of an element that indicate its purpose. The model's weights depend on the order. */
export const WORD_GROUPS: readonly string[] = [
  "nav navi navbar navigation menu menubar submenu megamenu topbar toolbar",
  "footer foot colophon bottom copyright legal",
  "header head masthead banner hero jumbotron top",
  "sidebar side aside rail widget widgets secondary complementary column",
  "comment comments disqus respond reply replies discussion",
  "related recommended recommendation recommendations recirc similar more popular trending upsell crosssell also suggested teaser promo promoted",
  "share sharing social follow facebook twitter sharedaddy addthis",
  "ad ads advert advertisement sponsor sponsored dfp adsense banner",
  "cookie cookies consent gdpr modal popup overlay dialog lightbox drawer offcanvas tooltip alert notice",
  "author byline bio contributor writer avatar profile user username signature",
  "meta date time published timestamp tags tag category categories label badge stats count",
  "breadcrumb breadcrumbs crumb crumbs pagination pager paging toc skip anchor",
  "article post entry story blog news articlebody page",
  "content body main text copy richtext rte prose markdown wysiwyg description desc details cms",
  "product products pdp price prices cart sku shop buy swatch variant option options quantity",
  "review reviews ratings testimonial testimonials ugc",
  "card cards grid tile tiles item items list listing results result collection carousel slider slide swiper",
  "message messages thread topic posts postbody forum bbcode reactions cooked",
  "newsletter subscribe subscription signup login signin register form search filter filters sort facet facets refine email",
  "title headline heading subtitle",
  "summary lead lede intro excerpt standfirst dek description desc teaser",
  "caption credit credits figcaption figure image img photo gallery media video player thumb thumbnail",
  "hidden hide sr visually screen reader print noprint mobile desktop",
  "faq faqs accordion question answer rating stars",
];
/** For each word, a bit mask of the groups that contain it. */
const GROUPS_OF: ReadonlyMap<string, number> = WORD_GROUPS.reduce((masks, group, at) => {
  for (const word of group.split(" ")) masks.set(word, (masks.get(word) ?? 0) | (1 << at));
  return masks;
}, new Map<string, number>());
/**
 * A class that says something of an element without naming it: an article that `has-comments`, whose `comments-open`. The templates of
 * Squarespace and WordPress set such classes on whole articles.
 */
const STATE =
  /^(?:.*[-_])?(?:has|have|no|not|with|without|show|shows|hide|hides|allow|allows|enable|disable|supports?)(?:[-_]|(?=\p{Lu}))|[-_](?:open|opened|closed?|enabled?|disabled?|allowed|active|inactive|loaded|loading|on|off)$/u;

/** How much of an element's names is read. */
const NAMES_CHARS_MAX = 300;

/** All names of an element, with the given classes for its own. */
export function allNamesOf({ id, attributes }: PageElement, classes: string): string {
  return `${classes} ${id} ${attributes["role"] ?? ""} ${attributes["data-testid"] ?? ""} ${attributes["aria-label"] ?? ""}`;
}

/** A bit mask of the groups to which an element's names belong. */
export function nameGroups(names: string): number {
  const words = names
    .slice(0, NAMES_CHARS_MAX)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replace(/[^a-z]+/g, " ");
  let groups = 0;
  for (const word of words.split(" ")) groups |= GROUPS_OF.get(word) ?? 0;
  return groups;
}

/** The same of an element, but for the classes that say something of it without naming it. */
export function nameGroupsWithoutStates(element: PageElement): number {
  const classes = element.className.slice(0, NAMES_CHARS_MAX).split(/\s+/);
  const named = classes.filter((name) => !STATE.test(name));
  return nameGroups(allNamesOf(element, named.join(" ")));
}
