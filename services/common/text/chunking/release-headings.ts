const DATE =
  /\b\d{4}-\d\d-\d\d\b|\b\d{4}\/\d\d?\/\d\d?\b|\b(?:\d{1,2}(?:st|nd|rd|th)? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\p{L}*\.?(?: \d{1,2}(?:st|nd|rd|th)?,?)? \d{4}\b/iu;
const NAMED_VERSION =
  /(?<![\p{L}\p{N}./-])(?:v(?:ersion |er\.? ?)?|release )?(?<version>\d+(?:\.(?:\d+|x))+(?:-[\p{L}\p{N}.]+)?)(?![\p{L}\p{N}]|\.\d)|(?<![\p{L}\p{N}.])(?:v|version |release )(?<major>\d+)(?![\p{L}\p{N}]|\.\d)/iu;
/** Words of the heading of a release beside its version and date. */
const WORDS_OF_RELEASE =
  /\b(?:versions?|releases?d?|changes?|changelog|what['’]?s|new|notes|breaking|major|minor|patch|stable|in|on|of|the|by|from|yanked|lts|current|latest)\b/giu;
const MAX_OTHER_WORDS = 2;
const MAX_LENGTH = 120;
const ADDRESS = /\(?https?:\/\/[^\s)]+\)?/giu;

/**
 * Returns the version and the date of a heading over the notes of a release; null for another one. `isLead`: the words are the
 * beginning of an item, where a number alone is none.
 */
export function versionOfHeading(
  title: string,
  isLead = false,
): { readonly version: string; readonly date: string | null } | null {
  if (title.length > MAX_LENGTH && title.replace(ADDRESS, ' ').length > MAX_LENGTH) return null;
  const bare = title.replace(ADDRESS, ' ');
  const date = DATE.exec(bare)?.[0] ?? null;
  const undated = date === null ? bare : bare.replace(date, ' ');
  const found = NAMED_VERSION.exec(undated);
  const version = found?.groups?.['version'] ?? found?.groups?.['major'];
  if (found === null || version === undefined) return null;
  const others =
    undated
      .replace(found[0], ' ')
      .replace(WORDS_OF_RELEASE, ' ')
      .match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  // `3.1 Deductible` is the number of a section.
  const isMarked = date !== null || /^(?:v|r)/iu.test(found[0]) || undated.includes('[');
  return others > (isMarked ? MAX_OTHER_WORDS : 0) || (isLead && !isMarked)
    ? null
    : { version: version.toLowerCase(), date };
}

/** Headings of parts of the notes of a release. */
const KIND_OF_CHANGES =
  /^\P{L}*(?:bug ?fixes|fix(?:es|ed)|features?|added|changed|removed|deprecat(?:ed|ions?)|security|breaking changes?|(?:code )?refactoring|performance(?: improvements)?|improvements?|enhancements?|documentation|docs|miscellaneous(?: chores)?|chores?|reverts?|tests?|styles?|build(?: system)?|dependencies|internals?|other changes|new features)\b/iu;

interface Heading {
  readonly level: number;
  readonly text: string;
}

const isRelease = ({ text }: Heading): boolean => /\d/u.test(text) && versionOfHeading(text) !== null;

/**
 * Returns the headings above what follows a heading, with that one. A release lies in no other one, and its parts lie in it,
 * whatever their levels: tools write patch releases one level lower than others, as the parts of these.
 */
export function headingPath<T extends Heading>(path: readonly T[], next: T): readonly T[] {
  if (isRelease(next)) {
    const end = path.findIndex((one) => one.level >= next.level || isRelease(one));
    return [...(end < 0 ? path : path.slice(0, end)), next];
  }
  const isPart = KIND_OF_CHANGES.test(next.text);
  const isAbove = (one: T) => one.level < next.level || (isPart && one.level === next.level && isRelease(one));
  return [...path.filter(isAbove), next];
}
