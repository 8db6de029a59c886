// Pages with structured data, and shorthands for schemas.

import { parsePage } from "../../../src/pages/dom/parse.ts";
import { structuredData } from "../../../src/pages/structured/structured.ts";

/** The page's address. */
export const URL = "https://shop.example.com/kettle";
/** A page in the form that extraction uses. */
export const page = (html: string, url = URL) => ({ url, structured: structuredData(parsePage(html), url) });
/** Scripts with structured data. */
export const ld = (...values: unknown[]) =>
  values.map((value) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`).join("");
/** The schema of an object. */
export const object = (properties: object, more = {}) => ({ type: "object", properties, ...more });
export const text = { type: "string" };
export const number = { type: "number" };

/** A product with offers, ratings and reviews. */
export const PRODUCT = {
  "@type": "Product",
  name: "Blue Kettle",
  sku: "K-1",
  brand: { "@type": "Brand", name: "Acme" },
  image: [{ "@type": "ImageObject", url: "https://shop.example.com/k.jpg" }],
  offers: { "@type": "Offer", price: "19.90", priceCurrency: "EUR", availability: "https://schema.org/InStock" },
  aggregateRating: { ratingValue: 4.5, reviewCount: "12" },
  review: [
    { author: { name: "Ann" }, reviewRating: { ratingValue: 5 }, reviewBody: "Good." },
    { author: { name: "Ben" }, reviewRating: { ratingValue: 4 }, reviewBody: "Fine." },
  ],
};
