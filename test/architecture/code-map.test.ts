// Compares the code map of ARCHITECTURE.md with the folders of src and their floors.

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { FLOORS, roomOf } from "./rules.ts";

const root = join(import.meta.dir, "../..");

/** The rows of the code map: each room with its floor. */
function mapOf(document: string): (readonly [room: string, floor: number])[] {
  const table = document.slice(document.indexOf("## Code map")).matchAll(/^\| (\d+) \| ([^|]+) \| [^|]*\S[^|]* \|$/gm);
  return [...table].flatMap(([, floor, rooms = ""]) =>
    [...rooms.matchAll(/`([^`]+)`/g)].map(([, room = ""]) => [room.replace(/\/$/, ""), Number(floor)] as const),
  );
}

const rows = mapOf(await Bun.file(join(root, "ARCHITECTURE.md")).text());
const rooms = readdirSync(join(root, "src"));

test("every room of src has one row, and no row is without its room", () => {
  expect(rows.map(([room]) => room).toSorted()).toEqual(rooms.toSorted());
});

test("every row names the floor that the rules hold its room to", () => {
  const floorOf = (room: string) => FLOORS[roomOf(room.includes(".") ? `src/${room}` : `src/${room}/a.ts`)];
  expect(rows.map(([room]) => [room, floorOf(room)] as const)).toEqual(rows);
});

test("every floor that the rules know is a room's", () => {
  const held = new Set(rooms.map((room) => roomOf(room.includes(".") ? `src/${room}` : `src/${room}/a.ts`)));
  expect(Object.keys(FLOORS).toSorted()).toEqual([...held].toSorted());
});

test("a row that says nothing of its room is none", () => {
  const document = "## Code map\n\n| floor | room | |\n|---|---|---|\n| 3 | `pages/` | pages |\n| 2 | `net/` |  |\n";
  expect(mapOf(document)).toEqual([["pages", 3]]);
});
