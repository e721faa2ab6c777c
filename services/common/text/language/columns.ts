const NUMERIC_DAY = /^(\d{1,2})([./])(\d{1,2})\2(\d{4})$/u;

/**
 * Returns a reader of a column of days in figures, `03/09/2012`, as ISO days; null for another column. Whether the day or the
 * month comes first is told by the cells that allow only one of the two.
 */
export function isoDays(cells: readonly string[]): ((cell: string) => string) | null {
  const read = cells.filter((cell) => cell !== '').map((cell) => NUMERIC_DAY.exec(cell));
  if (read.length === 0 || read.includes(null)) return null;
  const isMonthFirst = read.some((day) => Number(day?.[3]) > 12);
  const isDayFirst = read.some((day) => Number(day?.[1]) > 12 || day?.[2] === '.');
  if (isMonthFirst === isDayFirst) return null;
  return (cell) => {
    const [, first = '', , second = '', year] = NUMERIC_DAY.exec(cell) ?? [];
    if (year === undefined) return cell;
    const [day, month] = isDayFirst ? [first, second] : [second, first];
    return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  };
}

/** Columns of the two parts of the names of persons. */
export const GIVEN_NAME = /^(?:first|given)[ _-]?names?$|^fore?name$|^vorname$|^nombre$|^prénom$/iu;
export const FAMILY_NAME = /^(?:(?:last|family)[ _-]?names?|surname|nachname|familienname|apellidos?|nom)$/iu;
