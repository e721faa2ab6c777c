import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { flag, setting } = rowsOf('Improve');

/** Settings of what is learned about users and answers, and of its weight in later answers. */
export const learning = {
  defaultFeedbackInfluence: setting('DEFAULT_FEEDBACK_INFLUENCE', {
    type: type.number({ min: 0, max: 1 }),
    default: '0.0',
    meaning:
      'How much ratings of earlier answers move the passages and statements that those were made from, when a request does not say: 0 = not at all, 1 = up to twice as high, or down to nothing.',
  }),
  personalizationEnabled: flag(
    'PERSONALIZATION_ENABLED',
    'false',
    'Improve learns what each user prefers, and searches of one dataset put that first.',
  ),
  personalizationInfluence: setting('PERSONALIZATION_INFLUENCE', {
    type: type.number({ min: 0, max: 1 }),
    default: '0.3',
    meaning: 'How much a full preference moves a passage or statement: 0.3 = by 30 % of its score.',
  }),
  preferenceAlpha: setting('PREFERENCE_ALPHA', {
    type: type.number({ min: 0, max: 1 }).refine((alpha) => alpha > 0, 'must be greater than 0 and at most 1'),
    default: '0.3',
    meaning: 'How far one rating moves a preference.',
  }),
  preferenceBeta: setting('PREFERENCE_BETA', {
    type: type.number({ min: 0, max: 1 }).refine((beta) => beta < 1, 'must be at least 0 and less than 1'),
    default: '0.02',
    meaning: 'What a preference loses with each turn of its user.',
  }),
};
