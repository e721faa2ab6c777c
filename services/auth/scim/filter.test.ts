import { expect } from 'chai';
import { matchesFilter, parseFilter } from './filter.ts';

const ada = {
  id: 'Id-1',
  externalId: 'ext-A',
  userName: 'Ada@Example.com',
  active: true,
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [
    { value: 'ada@example.com', type: 'work', primary: true },
    { value: 'ada@home.example', type: 'home' },
  ],
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Engines' },
  meta: { created: '2026-01-02T03:04:05.678Z' },
};

describe('SCIM filters', () => {
  const matches = (text: string): boolean => matchesFilter(parseFilter(text), ada);

  it('compare strings without regard to case, but ids exactly', () => {
    for (const text of [
      'userName eq "ada@example.com"',
      'USERNAME Eq "ADA@EXAMPLE.COM"',
      'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada@example.com"',
      'id eq "Id-1"',
      'externalId eq "ext-A"',
      'name.familyName sw "love"',
      'name.familyName co "vel"',
      'name.familyName ew "LACE"',
      'meta.created gt "2026-01-01T00:00:00Z"',
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "engines"',
    ]) {
      expect(matches(text), text).to.equal(true);
    }
    for (const text of ['id eq "id-1"', 'externalId eq "EXT-a"', 'userName eq "bob"', 'nickName eq "Ada"']) {
      expect(matches(text), text).to.equal(false);
    }
  });

  it('match values of a multi-valued attribute', () => {
    expect(matches('emails.value eq "ada@home.example"')).to.equal(true);
    expect(matches('emails eq "ada@home.example"')).to.equal(true);
    expect(matches('emails[type eq "work" and value co "home"]')).to.equal(false);
    expect(matches('emails[type eq "home" and value co "home"]')).to.equal(true);
    expect(matches('emails[type eq "work"] and active eq True')).to.equal(true);
  });

  it('give and precedence over or, and apply brackets and not', () => {
    expect(matches('active eq true or userName eq "x" and userName eq "y"')).to.equal(true);
    expect(matches('(active eq true or userName eq "x") and userName eq "y"')).to.equal(false);
    expect(matches('not (active eq false) and title pr or not(userName pr)')).to.equal(false);
    expect(matches('active eq "True"')).to.equal(true);
    expect(matches('active ne false')).to.equal(true);
    expect(matches('title ne "x"')).to.equal(true);
  });

  it('accept quotation marks and blanks in strings', () => {
    const quoted = { displayName: 'a "b" ) or c' };
    expect(matchesFilter(parseFilter(String.raw`displayName eq "a \"b\" ) or c"`), quoted)).to.equal(true);
  });

  it('are refused with invalidFilter when they are malformed', () => {
    for (const text of [
      ...[
        '',
        'userName',
        'userName eq',
        'userName eq "a',
        'userName xx "a"',
        'userName eq a',
        '(userName pr',
        'not userName pr',
      ],
      ...[
        'userName pr)',
        'emails[type eq "a"',
        'a pr and',
        'a pr b pr',
        `${'('.repeat(40)}a pr${')'.repeat(40)}`,
        'a'.repeat(5000),
      ],
      ...['userName eq {"a":1}', '"a" eq "a"'],
    ]) {
      let body: unknown;
      try {
        parseFilter(text);
      } catch (error) {
        body = (error as { body?: unknown }).body;
      }
      expect(body, text.slice(0, 50)).to.include({ status: '400', scimType: 'invalidFilter' });
    }
  });
});
