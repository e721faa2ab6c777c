import type { SharedDocuments } from '../support/document-stores.ts';
import { accessRaces } from './access-races.ts';
import { agentsBehaviour } from './agents.ts';
import { budgetBehaviour } from './budgets.ts';
import { deletedUsersBehaviour } from './deleted-users.ts';
import { hygieneBehaviour } from './hygiene.ts';
import { improveClaimsBehaviour } from './improve-claims.ts';
import { learnedBehaviour } from './learned.ts';
import { loginFailuresBehaviour } from './login-failures.ts';
import { sessionsBehaviour } from './sessions.ts';
import { skillsBehaviour } from './skills.ts';
import { structuresBehaviour } from './structures.ts';

/** What services promise on any document store that two of their processes share. */
export function describeOnDocuments(name: string, open: () => Promise<SharedDocuments>): void {
  accessRaces(name, open);
  agentsBehaviour(name, open);
  budgetBehaviour(name, open);
  deletedUsersBehaviour(name, open);
  hygieneBehaviour(name, open);
  improveClaimsBehaviour(name, open);
  learnedBehaviour(name, open);
  loginFailuresBehaviour(name, open);
  sessionsBehaviour(name, open);
  skillsBehaviour(name, open);
  structuresBehaviour(name, open);
}
