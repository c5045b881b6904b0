const APART_MS = 5000;

let say: (text: string) => void = () => undefined;
let lastAt = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** The part of the frame that screen readers speak. */
export function speakThrough(speak: (text: string) => void): void {
  say = speak;
}

/** Speaks a change to screen readers, the last one of five seconds alone. */
export function announce(text: string): void {
  clearTimeout(waiting);
  waiting = setTimeout(
    () => {
      lastAt = Date.now();
      say(text);
    },
    Math.max(0, lastAt + APART_MS - Date.now()),
  );
}
