import type { SearchParts } from '../dependencies.ts';
import { type InfluenceWish, NO_INFLUENCE } from '../retrieval/learned-elements.ts';
import type { SearchRequest } from './search-request.ts';

/** How much what was learned counts in a search. Preferences are of one dataset, so they count only where one is searched. */
export function influenceOf(
  { settings }: Pick<SearchParts, 'settings'>,
  { principal }: Pick<SearchRequest, 'principal'>,
  datasets: number,
): InfluenceWish {
  const { feedbackInfluence = 0, personalization = null } = settings;
  if (feedbackInfluence === 0 && personalization === null) return NO_INFLUENCE;
  const isPersonal = personalization !== null && datasets === 1;
  return {
    feedback: feedbackInfluence,
    preferences: isPersonal ? { user: principal.id, ...personalization } : null,
  };
}
