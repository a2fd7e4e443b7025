// Every operation of this build. The transports, app/exec and the OpenAPI document are loops over it.
import { backup } from './admin/backup.ts';
import { config } from './admin/config.ts';
import { health, healthLive, healthReady, healthRpc } from './admin/health.ts';
import { keysCreate } from './admin/keys-create.ts';
import { keysList } from './admin/keys-list.ts';
import { keysRevoke } from './admin/keys-revoke.ts';
import { compact, rebuildIndexes, rotateKeys, verifyAuditChain } from './admin/maintenance.ts';
import { memoriesCreate } from './admin/memories-create.ts';
import { memoriesList } from './admin/memories-list.ts';
import { memoryDelete } from './admin/memory-delete.ts';
import { memoryGet } from './admin/memory-get.ts';
import { stats } from './admin/stats.ts';
import { statsHistory } from './admin/stats-history.ts';
import { tierInfo } from './admin/tier-info.ts';
import { verify } from './admin/verify.ts';
import { calQuery } from './cal/query.ts';
import { calSwitch } from './cal/switch.ts';
import { complianceExport, complianceImpact, complianceMetrics, complianceViolations } from './compliance/results.ts';
import { verifyCompliance, verifyLatest } from './compliance/verify-run.ts';
import type { Operation } from './define.ts';
import { forgetUser } from './erasure/forget-user.ts';
import { execOperation } from './exec.ts';
import { consentGrant, consentGrantBulk, consentRevoke, consentStatus } from './govern/consent.ts';
import { detectPii, detectPiiDetailed } from './govern/detect-pii.ts';
import { nerStatus } from './govern/ner-status.ts';
import { policyGet, policyPut, policyResolved, policySimulate } from './govern/policy.ts';
import { restrict, restrictions, unrestrict } from './govern/restriction.ts';
import { retentionEnforce, retentionStatus } from './govern/retention.ts';
import { accumulate } from './grains/accumulate.ts';
import { add } from './grains/add.ts';
import { batchAdd } from './grains/batch-add.ts';
import { exportFile } from './grains/export-file.ts';
import { flush } from './grains/flush.ts';
import { forget } from './grains/forget.ts';
import { get } from './grains/get.ts';
import { getRaw } from './grains/get-raw.ts';
import { history } from './grains/history.ts';
import { importFile } from './grains/import-file.ts';
import { list } from './grains/list.ts';
import { recall } from './grains/recall.ts';
import { recallChain } from './grains/recall-chain.ts';
import { remember } from './grains/remember.ts';
import { search } from './grains/search.ts';
import { supersede } from './grains/supersede.ts';
import { openApiOperation } from './openapi.ts';
import { scopeErase } from './scopes/scope-erase.ts';
import { deleteScopeTree, scopeTree, setScopeTree } from './scopes/scope-tree.ts';
import { audit } from './trail/audit.ts';
import { exportPortability, exportPortabilityCommand, exportUser, exportUserFile } from './trail/export-user.ts';
import { provenanceGet } from './trail/provenance-get.ts';
import { provenanceList } from './trail/provenance-list.ts';
import { provenanceSummary } from './trail/provenance-summary.ts';

const ROWS: readonly Operation[] = [
  add,
  batchAdd,
  recall,
  recallChain,
  search,
  list,
  get,
  getRaw,
  remember,
  supersede,
  accumulate,
  forget,
  forgetUser,
  flush,
  history,
  importFile,
  exportFile,
  consentGrant,
  consentRevoke,
  consentGrantBulk,
  consentStatus,
  restrict,
  unrestrict,
  restrictions,
  policyGet,
  policyPut,
  policySimulate,
  policyResolved,
  retentionStatus,
  retentionEnforce,
  detectPii,
  detectPiiDetailed,
  nerStatus,
  calQuery,
  calSwitch,
  config,
  health,
  healthLive,
  healthReady,
  healthRpc,
  keysList,
  keysCreate,
  keysRevoke,
  memoriesList,
  memoriesCreate,
  memoryGet,
  memoryDelete,
  scopeTree,
  setScopeTree,
  deleteScopeTree,
  scopeErase,
  stats,
  statsHistory,
  tierInfo,
  audit,
  provenanceList,
  provenanceSummary,
  provenanceGet,
  exportUser,
  exportUserFile,
  exportPortability,
  exportPortabilityCommand,
  verifyCompliance,
  verifyLatest,
  complianceMetrics,
  complianceViolations,
  complianceImpact,
  complianceExport,
  verifyAuditChain,
  rebuildIndexes,
  compact,
  rotateKeys,
  verify,
  backup,
];

const WITH_EXEC: readonly Operation[] = [...ROWS, execOperation(ROWS)];

export const OPERATIONS: readonly Operation[] = [...WITH_EXEC, openApiOperation(WITH_EXEC)];
