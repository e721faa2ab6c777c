import { expect } from 'chai';
import { columns } from './output.ts';

describe('columns of the command line', () => {
  it('are aligned', () => {
    expect(
      columns([
        ['NAME', 'SIZE'],
        ['a longer one', '1'],
        ['b', ''],
      ]),
    ).to.equal('NAME          SIZE\na longer one  1\nb');
  });

  it('spell out what would steer the terminal or break the line', () => {
    const typed = 'eve\u001b[2J\u009b31m\r\n2026-11-22  session.opened  \u202eroot';
    expect(columns([[typed]])).to.equal('eve\\u001b[2J\\u009b31m\\u000d\\u000a2026-11-22  session.opened  \\u202eroot');
  });
});
