const PEOPLE = ['Ada Lovelace', 'Charles Babbage', 'Mary Somerville', 'Michael Faraday', 'Grace Hopper', 'Alan Turing'];
const PLACES = ['London', 'Cambridge', 'Turin', 'Edinburgh', 'New York', 'Manchester'];
const DEEDS = ['met', 'wrote to', 'worked with', 'taught', 'admired', 'visited'];

/** Text with names, places, years and a word of its own; the same for the same number. */
export function makeText(number: number, sentences: number): string {
  let state = number + 1;
  const pick = (list: readonly string[]): string => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return list[Math.floor((state / 4294967296) * list.length)] ?? '';
  };
  const lines = Array.from(
    { length: sentences },
    (_, line) =>
      `${pick(PEOPLE)} ${pick(DEEDS)} ${pick(PEOPLE)} in ${pick(PLACES)} in ${1800 + ((number + line) % 200)}.`,
  );
  return `${lines.join(' ')} This is story${number}.`;
}
