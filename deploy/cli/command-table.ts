import type { Command } from './command.ts';
import { accountCredit } from './commands/account-credit.ts';
import { accountList } from './commands/account-list.ts';
import { accountShow } from './commands/account-show.ts';
import { actList } from './commands/act-list.ts';
import { attentionList } from './commands/attention-list.ts';
import { attentionResolve } from './commands/attention-resolve.ts';
import { backup } from './commands/backup.ts';
import { channelList } from './commands/channel-list.ts';
import { channelPause } from './commands/channel-pause.ts';
import { channelResume } from './commands/channel-resume.ts';
import { channelTest } from './commands/channel-test.ts';
import { configCheck } from './commands/config-check.ts';
import { configSchema } from './commands/config-schema.ts';
import { consoleKey } from './commands/console-key.ts';
import { keysDerive } from './commands/keys-derive.ts';
import { doctor } from './commands/doctor.ts';
import { jobList } from './commands/job-list.ts';
import { jobShow } from './commands/job-show.ts';
import { ledgerRebuild } from './commands/ledger-rebuild.ts';
import { ledgerVerify } from './commands/ledger-verify.ts';
import { mediaVerify } from './commands/media-verify.ts';
import { migrate } from './commands/migrate.ts';
import { priceList } from './commands/price-list.ts';
import { profile } from './commands/profile.ts';
import { restore } from './commands/restore.ts';
import { taskList } from './commands/task-list.ts';
import { taskShow } from './commands/task-show.ts';
import { tokenCreate } from './commands/token-create.ts';
import { tokenLimit } from './commands/token-limit.ts';
import { tokenList } from './commands/token-list.ts';
import { tokenRevoke } from './commands/token-revoke.ts';
import { usageShow } from './commands/usage-show.ts';
import { videoCreate } from './commands/video-create.ts';
import { videoSave } from './commands/video-save.ts';
import { webhookCreate } from './commands/webhook-create.ts';
import { webhookDelete } from './commands/webhook-delete.ts';
import { webhookDeliveries } from './commands/webhook-deliveries.ts';
import { webhookDelivery } from './commands/webhook-delivery.ts';
import { webhookList } from './commands/webhook-list.ts';
import { webhookResend } from './commands/webhook-resend.ts';
import { webhookResendFailed } from './commands/webhook-resend-failed.ts';
import { webhookRotate } from './commands/webhook-rotate.ts';
import { webhookShow } from './commands/webhook-show.ts';
import { webhookTest } from './commands/webhook-test.ts';
import { webhookUpdate } from './commands/webhook-update.ts';
import { newCompletionCommand } from './completion/completion.ts';

/** Every command by its words, in the order of the help. A new command is a file in `commands/` and a row here. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  doctor,
  'video create': videoCreate,
  'video save': videoSave,
  'account list': accountList,
  'account show': accountShow,
  'account credit': accountCredit,
  'token create': tokenCreate,
  'token list': tokenList,
  'token limit': tokenLimit,
  'token revoke': tokenRevoke,
  'task list': taskList,
  'task show': taskShow,
  'job list': jobList,
  'job show': jobShow,
  'webhook create': webhookCreate,
  'webhook list': webhookList,
  'webhook show': webhookShow,
  'webhook update': webhookUpdate,
  'webhook delete': webhookDelete,
  'webhook rotate': webhookRotate,
  'webhook test': webhookTest,
  'webhook deliveries': webhookDeliveries,
  'webhook delivery': webhookDelivery,
  'webhook resend': webhookResend,
  'webhook resend-failed': webhookResendFailed,
  'attention list': attentionList,
  'attention resolve': attentionResolve,
  'ledger verify': ledgerVerify,
  'ledger rebuild': ledgerRebuild,
  'price list': priceList,
  'usage show': usageShow,
  'channel list': channelList,
  'channel test': channelTest,
  'channel pause': channelPause,
  'channel resume': channelResume,
  'act list': actList,
  'media verify': mediaVerify,
  'console key': consoleKey,
  'keys derive': keysDerive,
  migrate,
  backup,
  restore,
  profile,
  'config check': configCheck,
  'config schema': configSchema,
  completion: newCompletionCommand(() => COMMANDS),
};
