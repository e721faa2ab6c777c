import { expect } from 'chai';
import type { Caller } from './http.ts';
import { documentedOperations } from './operations.ts';
import { OUTCOMES } from './outcomes.ts';
import { REQUESTS, requestTo } from './requests.ts';
import { type AccessWorld, startAccessWorld } from './world.ts';

describe('permissions of every route', () => {
  let world: AccessWorld;

  before(async () => {
    world = await startAccessWorld();
  });
  after(() => world.stop());

  it('are listed for each route of the OpenAPI document, and for no other', async () => {
    const operations = await documentedOperations(world.nobody);
    expect(Object.keys(REQUESTS), 'requests.ts').to.have.members(operations);
    expect(Object.keys(OUTCOMES), 'outcomes.ts').to.have.members(operations);
  });

  // Requested in the order of the table: a later route may find what an earlier one created.
  for (const [operation, outcome] of Object.entries(OUTCOMES)) {
    it(`answer ${outcome.join(', ')} to nobody, a stranger, a reader and another tenant's owner: ${operation}`, async () => {
      const { acme, globex, stranger, nobody } = world;
      const homes: readonly (readonly [Caller, string | null])[] = [
        [nobody, null],
        [stranger, null],
        [acme.reader, acme.ids.tenant],
        [globex.owner, globex.ids.tenant],
      ];
      const answers: string[] = [];
      for (const [caller, tenant] of homes) {
        const { status, text } = await caller.send(requestTo(operation, acme.ids));
        answers.push(status === outcome[answers.length] ? `${status}` : `${status} ${text.slice(0, 200)}`);
        // Creating a tenant switches to it.
        if (operation === 'POST /api/v1/permissions/tenants' && caller !== nobody) await goTo(caller, tenant);
      }
      expect(answers).to.deep.equal(outcome.map(String));
    });
  }
});

function goTo(caller: Caller, tenant: string | null): Promise<unknown> {
  return caller.need({ method: 'POST', path: '/api/v1/permissions/tenants/select', json: { tenant_id: tenant } });
}
