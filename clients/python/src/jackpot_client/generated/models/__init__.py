"""Contains all the data models used in inputs/outputs"""

from .adjustment import Adjustment
from .adjustment_body import AdjustmentBody
from .adjustment_state import AdjustmentState
from .alive import Alive
from .alive_alive_status_value import AliveAliveStatusValue
from .already_issued_issue_body import AlreadyIssuedIssueBody
from .attempt_body import AttemptBody
from .attempt_result import AttemptResult
from .audit_row import AuditRow
from .audit_row_audit_row_action_value import AuditRowAuditRowActionValue
from .batch_answer import BatchAnswer
from .batch_body import BatchBody
from .batch_entry import BatchEntry
from .begin import Begin
from .bulk_line import BulkLine
from .bulk_line_metadata_type_0 import BulkLineMetadataType0
from .bulk_line_result import BulkLineResult
from .by_amount import ByAmount
from .by_day import ByDay
from .by_time import ByTime
from .contribution_body import ContributionBody
from .contribution_fixed import ContributionFixed
from .contribution_rate_ppm import ContributionRatePpm
from .coupon import Coupon
from .coupon_body import CouponBody
from .coupon_definition import CouponDefinition
from .coupon_prize import CouponPrize
from .coupon_reason import CouponReason
from .coupon_reconciliation import CouponReconciliation
from .coupon_status import CouponStatus
from .cycle_body import CycleBody
from .daily_report import DailyReport
from .daily_source import DailySource
from .daily_tier import DailyTier
from .dead_body import DeadBody
from .dead_body_metadata_type_0 import DeadBodyMetadataType0
from .definition_of_version import DefinitionOfVersion
from .difference import Difference
from .document_json_response_200 import DocumentJsonResponse200
from .draw import Draw
from .drawn_by import DrawnBy
from .emergency_reason import EmergencyReason
from .emergency_state import EmergencyState
from .emergency_stop import EmergencyStop
from .ended_by import EndedBy
from .entry import Entry
from .entry_body import EntryBody
from .entry_row import EntryRow
from .epoch_body import EpochBody
from .expected_return import ExpectedReturn
from .fail_body import FailBody
from .fairness import Fairness
from .field_error import FieldError
from .fixed_prize import FixedPrize
from .get_meter_history_step import GetMeterHistoryStep
from .head import Head
from .history_point import HistoryPoint
from .hit_by import HitBy
from .issue_body import IssueBody
from .issue_body_metadata_type_0 import IssueBodyMetadataType0
from .issue_row import IssueRow
from .issue_row_metadata_type_0 import IssueRowMetadataType0
from .issue_wish import IssueWish
from .issue_wish_metadata_type_0 import IssueWishMetadataType0
from .jackpot import Jackpot
from .jackpot_definition import JackpotDefinition
from .jackpot_definition_sources import JackpotDefinitionSources
from .jackpot_sources import JackpotSources
from .jackpot_status import JackpotStatus
from .join_token import JoinToken
from .join_token_wish import JoinTokenWish
from .join_wish import JoinWish
from .jwk import Jwk
from .jwk_set import JwkSet
from .kafka import Kafka
from .ledger_state import LedgerState
from .listed_payout import ListedPayout
from .meter_body import MeterBody
from .meter_history import MeterHistory
from .meter_name import MeterName
from .meter_now import MeterNow
from .mismatch_reconciliations import MismatchReconciliations
from .must_hit import MustHit
from .must_hit_by import MustHitBy
from .nats import Nats
from .not_ready import NotReady
from .odds_table import OddsTable
from .outcome import Outcome
from .page_body_adjustment import PageBodyAdjustment
from .page_body_audit_row import PageBodyAuditRow
from .page_body_coupon import PageBodyCoupon
from .page_body_dead_body import PageBodyDeadBody
from .page_body_entry_row import PageBodyEntryRow
from .page_body_issue_row import PageBodyIssueRow
from .page_body_jackpot import PageBodyJackpot
from .page_body_listed_payout import PageBodyListedPayout
from .page_body_posting_row import PageBodyPostingRow
from .page_body_room import PageBodyRoom
from .page_body_transfer_row import PageBodyTransferRow
from .pause_body import PauseBody
from .payout import Payout
from .payout_state import PayoutState
from .payout_step_row import PayoutStepRow
from .pending_definition import PendingDefinition
from .pending_definition_sources import PendingDefinitionSources
from .play_answer import PlayAnswer
from .play_body import PlayBody
from .play_item import PlayItem
from .pool_prize import PoolPrize
from .posting_row import PostingRow
from .prize_coupon import PrizeCoupon
from .prize_fixed import PrizeFixed
from .prize_name import PrizeName
from .prize_pool import PrizePool
from .probe_answer import ProbeAnswer
from .problem import Problem
from .problem_code import ProblemCode
from .put_coupon_if_none_match import PutCouponIfNoneMatch
from .put_jackpot_if_none_match import PutJackpotIfNoneMatch
from .put_room_if_none_match import PutRoomIfNoneMatch
from .put_status import PutStatus
from .rank import Rank
from .ready import Ready
from .ready_ready_status_value import ReadyReadyStatusValue
from .reason_body import ReasonBody
from .receipt import Receipt
from .reconciliation import Reconciliation
from .reconciliations import Reconciliations
from .redeem_wish import RedeemWish
from .redeemed import Redeemed
from .refused import Refused
from .refused_reason import RefusedReason
from .refused_subject import RefusedSubject
from .refused_subject_refused_subject_kind_value import (
    RefusedSubjectRefusedSubjectKindValue,
)
from .replay_body import ReplayBody
from .request_state import RequestState
from .reversal import Reversal
from .reversal_body import ReversalBody
from .reverse_by import ReverseBy
from .reversed_body import ReversedBody
from .reversed_part import ReversedPart
from .room import Room
from .room_definition import RoomDefinition
from .room_phase import RoomPhase
from .room_reconciliation import RoomReconciliation
from .room_state import RoomState
from .room_status import RoomStatus
from .rotate_body import RotateBody
from .rules_body import RulesBody
from .rules_tier import RulesTier
from .settle_body import SettleBody
from .settlement import Settlement
from .settlement_body import SettlementBody
from .skip_body import SkipBody
from .source import Source
from .source_meter import SourceMeter
from .source_meters import SourceMeters
from .state_row import StateRow
from .stopped import Stopped
from .stream_body import StreamBody
from .subscription import Subscription
from .subscription_definition import SubscriptionDefinition
from .subscription_list import SubscriptionList
from .subscription_state import SubscriptionState
from .take_all import TakeAll
from .take_share_ppm import TakeSharePpm
from .target_type_0 import TargetType0
from .target_type_1 import TargetType1
from .target_type_2 import TargetType2
from .term import Term
from .terms_body import TermsBody
from .ticket_body import TicketBody
from .ticket_body_ticket_body_status_value import TicketBodyTicketBodyStatusValue
from .tier import Tier
from .tier_pool import TierPool
from .tier_report import TierReport
from .transfer_body import TransferBody
from .transfer_body_tiers import TransferBodyTiers
from .transfer_part import TransferPart
from .transfer_row import TransferRow
from .transfer_state import TransferState
from .void_receipt import VoidReceipt
from .void_receipt_void_receipt_kind_value import VoidReceiptVoidReceiptKindValue
from .webhook import Webhook
from .winner_body import WinnerBody
from .winner_item import WinnerItem
from .winner_list import WinnerList
from .winners import Winners

__all__ = (
    "Adjustment",
    "AdjustmentBody",
    "AdjustmentState",
    "Alive",
    "AliveAliveStatusValue",
    "AlreadyIssuedIssueBody",
    "AttemptBody",
    "AttemptResult",
    "AuditRow",
    "AuditRowAuditRowActionValue",
    "BatchAnswer",
    "BatchBody",
    "BatchEntry",
    "Begin",
    "BulkLine",
    "BulkLineMetadataType0",
    "BulkLineResult",
    "ByAmount",
    "ByDay",
    "ByTime",
    "ContributionBody",
    "ContributionFixed",
    "ContributionRatePpm",
    "Coupon",
    "CouponBody",
    "CouponDefinition",
    "CouponPrize",
    "CouponReason",
    "CouponReconciliation",
    "CouponStatus",
    "CycleBody",
    "DailyReport",
    "DailySource",
    "DailyTier",
    "DeadBody",
    "DeadBodyMetadataType0",
    "DefinitionOfVersion",
    "Difference",
    "DocumentJsonResponse200",
    "Draw",
    "DrawnBy",
    "EmergencyReason",
    "EmergencyState",
    "EmergencyStop",
    "EndedBy",
    "Entry",
    "EntryBody",
    "EntryRow",
    "EpochBody",
    "ExpectedReturn",
    "FailBody",
    "Fairness",
    "FieldError",
    "FixedPrize",
    "GetMeterHistoryStep",
    "Head",
    "HistoryPoint",
    "HitBy",
    "IssueBody",
    "IssueBodyMetadataType0",
    "IssueRow",
    "IssueRowMetadataType0",
    "IssueWish",
    "IssueWishMetadataType0",
    "Jackpot",
    "JackpotDefinition",
    "JackpotDefinitionSources",
    "JackpotSources",
    "JackpotStatus",
    "JoinToken",
    "JoinTokenWish",
    "JoinWish",
    "Jwk",
    "JwkSet",
    "Kafka",
    "LedgerState",
    "ListedPayout",
    "MeterBody",
    "MeterHistory",
    "MeterName",
    "MeterNow",
    "MismatchReconciliations",
    "MustHit",
    "MustHitBy",
    "Nats",
    "NotReady",
    "OddsTable",
    "Outcome",
    "PageBodyAdjustment",
    "PageBodyAuditRow",
    "PageBodyCoupon",
    "PageBodyDeadBody",
    "PageBodyEntryRow",
    "PageBodyIssueRow",
    "PageBodyJackpot",
    "PageBodyListedPayout",
    "PageBodyPostingRow",
    "PageBodyRoom",
    "PageBodyTransferRow",
    "PauseBody",
    "Payout",
    "PayoutState",
    "PayoutStepRow",
    "PendingDefinition",
    "PendingDefinitionSources",
    "PlayAnswer",
    "PlayBody",
    "PlayItem",
    "PoolPrize",
    "PostingRow",
    "PrizeCoupon",
    "PrizeFixed",
    "PrizeName",
    "PrizePool",
    "ProbeAnswer",
    "Problem",
    "ProblemCode",
    "PutCouponIfNoneMatch",
    "PutJackpotIfNoneMatch",
    "PutRoomIfNoneMatch",
    "PutStatus",
    "Rank",
    "Ready",
    "ReadyReadyStatusValue",
    "ReasonBody",
    "Receipt",
    "Reconciliation",
    "Reconciliations",
    "RedeemWish",
    "Redeemed",
    "Refused",
    "RefusedReason",
    "RefusedSubject",
    "RefusedSubjectRefusedSubjectKindValue",
    "ReplayBody",
    "RequestState",
    "Reversal",
    "ReversalBody",
    "ReverseBy",
    "ReversedBody",
    "ReversedPart",
    "Room",
    "RoomDefinition",
    "RoomPhase",
    "RoomReconciliation",
    "RoomState",
    "RoomStatus",
    "RotateBody",
    "RulesBody",
    "RulesTier",
    "SettleBody",
    "Settlement",
    "SettlementBody",
    "SkipBody",
    "Source",
    "SourceMeter",
    "SourceMeters",
    "StateRow",
    "Stopped",
    "StreamBody",
    "Subscription",
    "SubscriptionDefinition",
    "SubscriptionList",
    "SubscriptionState",
    "TakeAll",
    "TakeSharePpm",
    "TargetType0",
    "TargetType1",
    "TargetType2",
    "Term",
    "TermsBody",
    "TicketBody",
    "TicketBodyTicketBodyStatusValue",
    "Tier",
    "TierPool",
    "TierReport",
    "TransferBody",
    "TransferBodyTiers",
    "TransferPart",
    "TransferRow",
    "TransferState",
    "VoidReceipt",
    "VoidReceiptVoidReceiptKindValue",
    "Webhook",
    "WinnerBody",
    "WinnerItem",
    "WinnerList",
    "Winners",
)
