// Recognises the accepted types of images by their first bytes, never by a name or header
// (docs/reference/http-api.md#post-v1files).

import { ApiError } from "../../base/errors.ts";

/** Maximum number of bytes of an image, uploaded or fetched. */
export const IMAGE_BYTES_MAX = 10 * 1024 * 1024;

/** Maximum number of images in one request, which is also the maximum of the model with the largest context. */
export const IMAGES_MAX = 100;

/** The error for a request with more images. */
export function tooManyImages(): ApiError {
  return new ApiError("invalid_request", `A request may name at most ${IMAGES_MAX} images.`);
}

const ascii = (bytes: Uint8Array, from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));

/** The media type of an image; undefined for other data, even if the first bytes are those of an image. */
export function sniffImage(bytes: Uint8Array): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] === 0x89 && ascii(bytes, 1, 8) === "PNG\r\n\x1a\n") return pngHasSize(view) ? "image/png" : undefined;
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return jpegHasSize(view) ? "image/jpeg" : undefined;
  if (/^GIF8[79]a$/.test(ascii(bytes, 0, 6))) return gifHasSize(view) ? "image/gif" : undefined;
  if (ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 12) === "WEBP")
    return webpHasSize(view) ? "image/webp" : undefined;
  return undefined;
}

const text = (view: DataView, from: number, to: number) =>
  ascii(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), from, to);

/** The first chunk of a PNG is its header, which has a length of 13. */
function pngHasSize(view: DataView): boolean {
  if (view.byteLength < 33 || view.getUint32(8) !== 13 || text(view, 12, 16) !== "IHDR") return false;
  return view.getUint32(16) > 0 && view.getUint32(20) > 0;
}

/** A JPEG is a sequence of segments, one of which starts a frame with its size. */
function jpegHasSize(view: DataView): boolean {
  for (let at = 2; at + 9 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return false;
    const marker = view.getUint8(at + 1);
    // Any number of fill bytes may come before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    // The height may be zero, as it can follow after the first scan.
    if (isFrame) return view.getUint16(at + 7) > 0;
    const length = view.getUint16(at + 2);
    // Image data, the end of the image, or an invalid length: no frame can follow.
    if (marker === 0xda || marker === 0xd9 || length < 2) return false;
    at += 2 + length;
  }
  return false;
}

function gifHasSize(view: DataView): boolean {
  return view.byteLength >= 10 && view.getUint16(6, true) > 0 && view.getUint16(8, true) > 0;
}

/** The first chunk of a WebP is one of two kinds of frame, or an extended header. */
function webpHasSize(view: DataView): boolean {
  if (view.byteLength < 30) return false;
  switch (text(view, 12, 16)) {
    case "VP8 ": {
      const starts = view.getUint8(23) === 0x9d && view.getUint8(24) === 0x01 && view.getUint8(25) === 0x2a;
      return starts && (view.getUint16(26, true) & 0x3fff) > 0 && (view.getUint16(28, true) & 0x3fff) > 0;
    }
    case "VP8L":
      return view.getUint8(20) === 0x2f;
    case "VP8X":
      // Width and height are stored minus one, so every value is valid.
      return view.getUint32(16, true) === 10;
    default:
      return false;
  }
}
