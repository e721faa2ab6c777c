import { expect } from 'chai';
import { NATS_USERS, natsPermissions } from './nats-permissions.ts';
import { methodFacts } from './subject-map.ts';

describe('permissions of NATS users', () => {
  it('let everybody ask what the methods say, and nothing else', () => {
    for (const user of NATS_USERS) {
      const asked = natsPermissions(user).publish.filter((subject) => /^\{prefix\}\.\w+\.[A-Z]/.test(subject));
      const allowed = methodFacts.filter(({ callers, service }) => callers.includes(user) && service !== 'system');
      const own = asked.filter((subject) => !/\.(Describe|Health)$/.test(subject));
      expect(own, user).to.have.members(allowed.map(({ path }) => `{prefix}.${path}`));
    }
    expect(natsPermissions('search').publish).to.not.include('{prefix}.auth.EnsureTenant');
    expect(natsPermissions('auth').publish).to.include('{prefix}.search.Health');
  });

  it('let each answer its own methods only, at the inbox of whoever asked', () => {
    const { subscribe, allowResponses } = natsPermissions('improve');
    expect(subscribe).to.include('{prefix}.improve.Improve').and.include('{prefix}.improve.Describe');
    expect(subscribe.filter((subject) => subject.includes('.auth.'))).to.deep.equal([]);
    expect(allowResponses?.expiresSeconds).to.be.greaterThan(600);
  });

  it('let nobody hear the answers that others get', () => {
    for (const user of NATS_USERS) {
      const { publish, subscribe } = natsPermissions(user);
      expect(subscribe.filter((subject) => subject.startsWith('_INBOX'))).to.deep.equal([`_INBOX.{prefix}.${user}.>`]);
      expect([...publish, ...subscribe].filter((subject) => subject === '>' || subject === '{prefix}.>')).to.deep.equal(
        [],
      );
    }
  });

  it('give the operator requests, and no part in streams', () => {
    const { publish, subscribe, allowResponses } = natsPermissions('operator');
    expect(publish).to.include('{prefix}.auth.EnsureTenant');
    expect(publish.filter((subject) => subject.startsWith('$JS'))).to.deep.equal([]);
    expect(subscribe).to.deep.equal(['_INBOX.{prefix}.operator.>', '{prefix}.cancel.*']);
    expect(allowResponses).to.equal(null);
  });
});
