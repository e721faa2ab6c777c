import * as type from '../value-types.ts';
import { optional, setting } from './setting.ts';

const section = 'Integrations';

/** The Slack app by which workspaces are connected. */
export const slack = {
  slackClientId: optional({
    ...{ names: ['SLACK_CLIENT_ID'], section, type: type.text(), meaning: 'Client id of the Slack app.' },
  }),
  slackClientSecret: optional({
    ...{ names: ['SLACK_CLIENT_SECRET'], section, type: type.text(), secret: true },
    meaning: 'Client secret of the Slack app.',
  }),
  slackSigningSecret: optional({
    ...{ names: ['SLACK_SIGNING_SECRET'], section, type: type.text(), secret: true },
    meaning:
      'Signing secret of the app, whose requests go to `<public address>/api/v1/slack/events`, `/slack/commands` and `/slack/interactive`; it also signs the state of installs and links of members.',
  }),
  slackRedirectUri: optional({
    ...{ names: ['SLACK_REDIRECT_URI'], section, type: type.httpUrl() },
    meaning:
      'Redirect URL of the app, exactly as it is registered. Unset: `<ENGRAM_PUBLIC_URL>/api/v1/integrations/slack/callback`.',
  }),
  slackFrontendUrl: optional({
    ...{ names: ['SLACK_FRONTEND_BASE_URL'], section, type: type.httpUrl() },
    meaning:
      'Where the browser returns after an install, and where members link their account: `<it>/link-slack`. Unset: the console, with ENGRAM_PUBLIC_URL.',
  }),
  slackHistorySync: setting({
    ...{ names: ['SLACK_HISTORY_SYNC_ENABLED'], section, type: type.flag(), default: 'true' },
    meaning: 'Standing imports of channels start by themselves.',
  }),
  slackUrl: setting({
    ...{ names: ['ENGRAM_SLACK_URL'], section, type: type.httpUrl(), default: 'https://slack.com' },
    meaning: 'Address of Slack; `https://slack-gov.com` for GovSlack.',
  }),
};
