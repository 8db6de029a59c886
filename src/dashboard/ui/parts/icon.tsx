// The icons: strokes on a grid of 24 units, in the colour of the adjacent text. They are hidden from screen readers.

const PATHS = {
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  key: "M14.5 9.5a4.5 4.5 0 1 1-4-4.5 4.5 4.5 0 0 1 4 4.5zM13 13l7 7m-3-3l2-2",
  chart: "M4 20h16M7 20v-7m5 7V5m5 15v-10",
  chat: "M4 5h16v11H10l-4 4v-4H4z",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-7 9a7 7 0 0 1 14 0",
  pulse: "M3 12h4l3-7 4 14 3-7h4",
  people:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zm-6.5 9a6.5 6.5 0 0 1 13 0M16 4.3a3.5 3.5 0 0 1 0 6.4M18 14.5a6.5 6.5 0 0 1 3.5 5.5",
  layers: "M12 3l9 5-9 5-9-5zM3.5 12.5L12 17l8.5-4.5M3.5 16.5L12 21l8.5-4.5",
  scale: "M12 4v16M7 20h10M5 7h14M5 7l-3 7a3.2 3.2 0 0 0 6 0zM19 7l-3 7a3.2 3.2 0 0 0 6 0z",
  shield: "M12 3l8 3v6c0 4.5-3.2 7.6-8 9-4.800-1.400-8-4.500-8-9V6z",
  leave: "M14 4h5v16h-5M4 12h11m-4-4l4 4-4 4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.500l4.500 4.500L19 7",
  menu: "M4 7h16M4 12h16M4 17h16",
  list: "M4 6h2m3 0h11M4 12h2m3 0h11M4 18h2m3 0h11",
  log: "M5 4h14v16H5zM8 9h8M8 13h8M8 17h5",
  more: "M9 6l6 6-6 6",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  thread: "M4 5h12v8H9l-3 3v-3H4zM19 9h1v8h-2v3l-3-3h-5",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  stop: "M7 7h10v10H7z",
  book: "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
  cloud: "M7 18a4 4 0 0 1-.5-7.970A5.500 5.500 0 0 1 17 9a4.500 4.500 0 0 1 .5 9z",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zm5-2l4.500 4.500",
  disk: "M5 6c0-1.700 3.100-3 7-3s7 1.300 7 3v12c0 1.700-3.100 3-7 3s-7-1.300-7-3zm0 0c0 1.700 3.100 3 7 3s7-1.300 7-3M5 12c0 1.700 3.100 3 7 3s7-1.300 7-3",
  sliders: "M4 7h9m5 0h2M4 17h2m5 0h9M13 4.500v5M8 14.500v5",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The logo: a gate. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M8 25V14a8 8 0 0 1 16 0v11h-4v-5a4 4 0 0 0-8 0v5z" />
    </svg>
  );
}
