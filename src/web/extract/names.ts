// Maps callers' field names to the names on pages. A field is looked up under its own name first, then under schema.org's name
// for it. Only unambiguous names are listed.

import { entryOf } from "../../base/json-object.ts";

/** A normalised name, without punctuation, case and plural: `in_stock`, `inStock` and "In stock" are equal. */
export function foldedName(name: string): string {
  const letters = name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  if (letters.length < 4 || /(?:ss|us|is)$/.test(letters)) return letters;
  return letters.endsWith("ies") ? `${letters.slice(0, -3)}y` : letters.replace(/s$/, "");
}

/** Callers' field names, each with the paths of the members in which schema.org has the value. */
const SYNONYMS = `
name title headline label: name headline title
description: description abstract
price: offers.price offers.priceSpecification.price
currency priceCurrency: offers.priceCurrency offers.priceSpecification.priceCurrency
lowPrice minPrice: offers.lowPrice
highPrice maxPrice: offers.highPrice
availability: offers.availability
inStock isInStock available isAvailable: offers.availability
condition itemCondition: itemCondition offers.itemCondition
seller: offers.seller
brand brandName: brand
manufacturer: manufacturer
gtin ean: gtin gtin13 gtin14 gtin12 gtin8
rating averageRating avgRating ratingValue: aggregateRating.ratingValue
reviewCount numberOfReview numReview: aggregateRating.reviewCount
ratingCount numberOfRating: aggregateRating.ratingCount
image imageUrl photo picture thumbnail: image
url link webpage: url
author authorName writer byline: author
publisher publisherName: publisher
published publishedAt publishedOn publishedDate publishedTime publicationDate publishDate datePublished: datePublished
updated updatedAt updatedDate modified modifiedAt modifiedDate lastUpdated lastModified dateModified: dateModified
date: startDate datePublished datePosted
start startDate startAt startsAt startTime begin: startDate
end endDate endAt endsAt endTime: endDate
venue venueName place location: location
street streetAddress: streetAddress address.streetAddress location.address.streetAddress jobLocation.address.streetAddress
city town locality: addressLocality address.addressLocality location.address.addressLocality jobLocation.address.addressLocality
region state: addressRegion address.addressRegion location.address.addressRegion jobLocation.address.addressRegion
postalCode zip zipCode postcode: postalCode address.postalCode location.address.postalCode jobLocation.address.postalCode
country: addressCountry address.addressCountry location.address.addressCountry jobLocation.address.addressCountry
address: address location.address jobLocation.address
organizer organiser host: organizer
performer artist lineup: performer
company employer companyName employerName hiringOrganization organization: hiringOrganization
employmentType jobType contractType: employmentType
salaryMin minSalary salaryFrom: baseSalary.value.minValue baseSalary.minValue
salaryMax maxSalary salaryTo: baseSalary.value.maxValue baseSalary.maxValue
salary: baseSalary.value.value baseSalary.value
salaryCurrency: baseSalary.currency salaryCurrency
salaryUnit salaryPeriod: baseSalary.value.unitText
posted postedAt postedOn postedDate datePosted: datePosted
deadline closingDate applyBy validThrough expires expiresAt: validThrough
isRemote remote: jobLocationType
ingredient: recipeIngredient ingredients
instruction step method direction: recipeInstructions
yield serving portion: recipeYield
cuisine: recipeCuisine
category: category recipeCategory articleSection
prep prepTime preparationTime: prepTime
cook cookingTime cookTime: cookTime
total totalTime: totalTime
calory caloriesPerServing: nutrition.calories
section: articleSection
body articleBody content fullText: articleBody
keyword tag: keywords
language: inLanguage
pageCount numberOfPage numPage: numberOfPages
phone phoneNumber telephone tel: telephone
question: name
answer: acceptedAnswer.text
isFree free: isAccessibleForFree
`;

const PATHS: ReadonlyMap<string, readonly string[]> = new Map(
  SYNONYMS.trim()
    .split("\n")
    .flatMap((line) => {
      const [names = "", paths = ""] = line.split(": ");
      return names.split(" ").map((name): [string, readonly string[]] => [foldedName(name), paths.split(" ")]);
    }),
);

/** The paths at which schema.org has the value of a field with this normalised name. */
export function schemaOrgPaths(folded: string): readonly string[] {
  return PATHS.get(folded) ?? [];
}

/** Callers' names for types that have a different name in schema.org. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  job: ["jobposting"],
  position: ["jobposting"],
  vacancy: ["jobposting"],
  opening: ["jobposting"],
  post: ["blogposting", "socialmediaposting"],
  article: ["blogposting"],
  story: ["newsarticle"],
  film: ["movie"],
  company: ["organization", "localbusiness"],
  faq: ["question"],
  video: ["videoobject"],
  show: ["event"],
  concert: ["musicevent"],
};

const KIND_CHARS_MAX = Math.max(...Object.keys(KINDS).map(({ length }) => length));

/** Whether the name stands for one of these types: a `MusicEvent` is an `event`. */
export function isKind(folded: string, types: readonly string[]): boolean {
  if (folded.length < 3) return false;
  const known = entryOf(KINDS, folded) ?? [];
  return types.some((type) => type.endsWith(folded) || known.includes(type));
}

/**
 * The name without the kind of entity at its start; a product's `productName` is its `name`. Undefined if it does not start so.
 */
export function withoutKind(folded: string, types: readonly string[]): string | undefined {
  // A longer beginning is none of them: the name is a caller's, and may have 60,000 letters.
  const longest = types.reduce((most, { length }) => Math.max(most, length), KIND_CHARS_MAX);
  for (let at = Math.min(folded.length - 3, longest); at >= 3; at--)
    if (isKind(folded.slice(0, at), types)) return foldedName(folded.slice(at));
  return undefined;
}
