import { statedAge } from './ages.ts';
import { toldEvents } from './counted-events.ts';
import { documented, isDefaultUnsaid } from './documented.ts';
import { statedKin } from './kin.ts';
import { statedPreferences } from './preferences.ts';
import type { PlacedStatement, ReadPassage } from './rank-sentences.ts';
import { statedResponsible } from './responsible.ts';
import { isRelativeUnsaid, statedWork } from './stated-work.ts';

/** What sentences say plainly in answer to a question, with all of them. */
interface DirectAnswer {
  readonly short: string;
  readonly told: readonly PlacedStatement[];
}

/** Passages and items of a list of what somebody likes. */
const PREFERENCE_PASSAGES = 15;
const MAX_PREFERENCES = 8;

/**
 * Answers what people ask about persons and of documentation by forms of sentences that say it: work, ages, children, tastes, how
 * often something happened, who has to do or approve something, defaults, versions and licences. `unsaid` when it is of a relative or
 * a kind that no passage names; null for other questions, and when no sentence says it.
 */
export function directAnswer(question: string, passages: readonly ReadPassage[]): DirectAnswer | 'unsaid' | null {
  const work = statedWork(question, passages);
  if (work === 'unsaid' || (work === null && isRelativeUnsaid(question, passages))) return 'unsaid';
  if (work !== null) return { short: work.said, told: [work] };
  const liked = statedPreferences(question, passages.slice(0, PREFERENCE_PASSAGES))?.slice(0, MAX_PREFERENCES);
  if (liked !== undefined) return { short: liked.map(({ object }) => object).join('; '), told: liked };
  const events = toldEvents(question, passages);
  if (events !== null) return { short: `${events.count} times`, told: events.events };
  const age = statedAge(question, passages);
  if (age !== null) return { short: age.age, told: [age] };
  const kin = statedKin(question, passages);
  if (kin !== null) return { short: kin.answer, told: kin.told };
  const responsible = statedResponsible(question, passages);
  if (responsible !== null) return { short: responsible.doer, told: [responsible] };
  const value = documented(question, passages);
  if (value !== null) return { short: value.value, told: [value] };
  return isDefaultUnsaid(question, passages) ? 'unsaid' : null;
}
