import { expect } from 'chai';
import fc from 'fast-check';
import { expectQuick, threadCpuTimeMs } from '../../../test/support/cpu-time.ts';
import { repeats } from '../../../test/support/extent.ts';
import { applyPatch, readOperations } from './apply-patch.ts';
import { type Fields, readResource } from './fields.ts';
import { GROUP_TYPE, USER_TYPE } from './schema.ts';

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const ada: Fields = {
  userName: 'ada@example.com',
  active: true,
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [
    { value: 'ada@example.com', type: 'work', primary: true },
    { value: 'ada@home.example', type: 'home' },
  ],
};

describe('SCIM patches', () => {
  const patched = (...operations: readonly unknown[]): Fields =>
    applyPatch(USER_TYPE, ada, readOperations({ Operations: operations }));
  const grouped = (fields: Fields, ...operations: readonly unknown[]): Fields =>
    applyPatch(GROUP_TYPE, fields, readOperations({ Operations: operations }));
  const refusal = (act: () => unknown): unknown => {
    try {
      act();
    } catch (error) {
      return (error as { body?: unknown }).body;
    }
    return null;
  };

  it('read the booleans and operations of Entra', () => {
    expect(patched({ op: 'Replace', path: 'active', value: 'False' })['active']).to.equal(false);
    expect(patched({ op: 'Add', path: 'active', value: 'True' })['active']).to.equal(true);
    expect(patched({ op: 'replace', value: { active: false } })['active']).to.equal(false);
  });

  it('accept dotted names and extensions without a path', () => {
    const changed = patched({
      op: 'Add',
      value: {
        'name.givenName': 'Augusta',
        [`${ENTERPRISE}:department`]: 'Engines',
        'emails[type eq "work"].value': 'augusta@example.com',
        unknown: 1,
        id: 'x',
      },
    });
    expect(changed).to.deep.equal({
      ...ada,
      name: { givenName: 'Augusta', familyName: 'Lovelace' },
      emails: [
        { value: 'augusta@example.com', type: 'work', primary: true },
        { value: 'ada@home.example', type: 'home' },
      ],
      [ENTERPRISE]: { department: 'Engines' },
    });
  });

  it('keep sub-attributes that a complex value does not name, and remove null ones', () => {
    expect(patched({ op: 'replace', path: 'name', value: { givenName: 'Augusta' } })['name']).to.deep.equal({
      givenName: 'Augusta',
      familyName: 'Lovelace',
    });
    expect(patched({ op: 'replace', path: 'name.givenName', value: null })['name']).to.deep.equal({
      familyName: 'Lovelace',
    });
    expect(patched({ op: 'remove', path: 'name' })).not.to.have.property('name');
  });

  it('change one of several values, and create it when there is none', () => {
    const home = { op: 'remove', path: 'emails[type eq "home"]' };
    expect(patched(home)['emails']).to.deep.equal([{ value: 'ada@example.com', type: 'work', primary: true }]);
    const phone = { op: 'replace', path: 'phoneNumbers[type eq "mobile"].value', value: '+47 1' };
    expect(patched(phone)['phoneNumbers']).to.deep.equal([{ type: 'mobile', value: '+47 1' }]);
    expect(refusal(() => patched({ op: 'replace', path: 'phoneNumbers[value co "9"].type', value: 'x' }))).to.include({
      status: '400',
      scimType: 'noTarget',
    });
  });

  it('leave one primary value', () => {
    const added = patched({
      op: 'add',
      path: 'emails',
      value: [{ value: 'new@example.com', type: 'other', primary: true }],
    });
    const primaries = (added['emails'] as readonly { value: string; primary?: boolean }[]).filter(
      ({ primary }) => primary,
    );
    expect(primaries.map(({ value }) => value)).to.deep.equal(['new@example.com']);
  });

  it('add members once, and remove them by filter or by value', () => {
    const group: Fields = { displayName: 'Engineers', members: [{ value: 'a' }, { value: 'b' }] };
    const added = grouped(group, { op: 'add', path: 'members', value: [{ value: 'b' }, { value: 'c', display: 'C' }] });
    expect((added['members'] as readonly { value: string }[]).map(({ value }) => value)).to.deep.equal(['a', 'b', 'c']);
    expect(grouped(group, { op: 'remove', path: 'members[value eq "a"]' })['members']).to.deep.equal([{ value: 'b' }]);
    expect(grouped(group, { op: 'Remove', path: 'members', value: [{ value: 'b' }] })['members']).to.deep.equal([
      { value: 'a' },
    ]);
    expect(grouped(group, { op: 'remove', path: 'members' })).to.deep.equal({ displayName: 'Engineers' });
    expect(grouped(group, { op: 'replace', path: 'members', value: [] })).to.deep.equal({ displayName: 'Engineers' });
  });

  it('are refused when they are malformed', () => {
    for (const [operation, scimType] of [
      [{ op: 'move', path: 'active' }, 'invalidSyntax'],
      [{ op: 'replace', path: 'nonsense', value: 1 }, 'invalidPath'],
      [{ op: 'replace', path: 'active[type eq "x"]', value: true }, 'invalidPath'],
      [{ op: 'replace', path: 'emails[', value: true }, 'invalidPath'],
      [{ op: 'replace', path: 'emails[type xx "x"].value', value: 'x' }, 'invalidFilter'],
      [{ op: 'replace', path: 'groups', value: [] }, 'mutability'],
      [{ op: 'remove', path: 'userName' }, 'mutability'],
      [{ op: 'remove' }, 'noTarget'],
      [{ op: 'replace', value: 'x' }, 'invalidSyntax'],
      [{ op: 'replace', path: 'active', value: 'maybe' }, 'invalidValue'],
      [{ op: 'replace', path: 'title', value: { a: 1 } }, 'invalidValue'],
    ] as const) {
      expect(
        refusal(() => patched(operation)),
        JSON.stringify(operation),
      ).to.include({ status: '400', scimType });
    }
    expect(refusal(() => readOperations({ Operations: [] }))).to.include({ scimType: 'invalidSyntax' });
    expect(refusal(() => readOperations({}))).to.include({ scimType: 'invalidSyntax' });
  });

  it('of any content result in attributes of the schema or in a SCIM error', () => {
    const word = fc.constantFrom(
      'active',
      'emails',
      'name',
      'userName',
      'groups',
      'members',
      ENTERPRISE,
      'x',
      'manager',
    );
    const path = fc.oneof(
      word,
      fc.string(),
      fc.tuple(word, word).map((words) => words.join('.')),
      fc.tuple(word, word).map(([one, sub]) => `${one}[type eq "work"].${sub}`),
      word.map((name) => `${ENTERPRISE}:${name}`),
    );
    const value = fc.oneof(fc.jsonValue(), fc.dictionary(path, fc.jsonValue()));
    const operation = fc.record(
      { op: fc.constantFrom('add', 'Replace', 'remove'), path, value },
      { requiredKeys: ['op'] },
    );
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 4 }), (operations) => {
        const body = refusal(() => {
          const changed = patched(...operations);
          expect(readResource(USER_TYPE, changed), 'stays what it is when read again').to.deep.equal(changed);
          return changed;
        });
        if (body !== null) expect(body).to.have.property('status').that.is.oneOf(['400', '413']);
      }),
      { numRuns: repeats(3000, 600) },
    );
  });

  it('do not change prototypes', () => {
    const sent = JSON.parse('{"Operations":[{"op":"add","value":{"__proto__":{"active":false}}}]}') as Record<
      string,
      unknown
    >;
    expect(applyPatch(USER_TYPE, ada, readOperations(sent))).to.deep.equal(ada);
  });

  it('do not block other requests, however many values they have', () => {
    const members = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ value: `user ${from + index}`, type: 'User' }));
    const add = (from: number, count: number) => ({ op: 'add', path: 'members', value: members(from, count) });
    const begin = threadCpuTimeMs();
    const { members: joined } = grouped({}, add(0, 5_000), add(2_500, 5_000), add(4_000, 6_000));
    expect(joined).to.deep.equal(members(0, 10_000));
    expectQuick(threadCpuTimeMs() - begin, 2_000);
    const tooMany = { status: '413' };
    expect(refusal(() => grouped({}, add(0, 10_000), add(10_000, 1)))).to.include(tooMany);
    const filtered = { op: 'remove', path: 'members[value eq "x" or value eq "y"]' };
    const again = (times: number) => Array.from({ length: times }, () => filtered);
    expect(refusal(() => grouped({}, add(0, 10_000), ...again(30)))).to.include({ ...tooMany, scimType: 'tooMany' });
    expect(refusal(() => grouped({}, add(0, 100), ...again(900)))).to.equal(null);
    const path = `members[${Array.from({ length: 51 }, () => 'value pr').join(' or ')}]`;
    expect(refusal(() => grouped({}, { op: 'remove', path }))).to.include({ scimType: 'invalidFilter' });
  });
});
