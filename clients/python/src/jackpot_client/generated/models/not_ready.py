from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.problem_code import ProblemCode, check_problem_code
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.emergency_stop import EmergencyStop
    from ..models.field_error import FieldError
    from ..models.ledger_state import LedgerState
    from ..models.refused import Refused
    from ..models.refused_subject import RefusedSubject


T = TypeVar("T", bound="NotReady")


@_attrs_define
class NotReady:
    """The problem, and what is known all the same.

    Attributes:
        code (ProblemCode): What went wrong, for programs; `/problems/{code}` says what to do.
        detail (str): What is wrong this time.
        errors (list[FieldError]): The fields at fault; empty when it is not about fields.
        refused (Refused): How many jackpots, coupons and rooms this instance refuses. What an operator paused or closed
            is not refused.
        status (int): The status of the answer.
        title (str): The same for all problems of a code.
        type_ (str): `/problems/` and the code.
        emergency_stop (EmergencyStop | None | Unset):
        ledger (LedgerState | None | Unset):
        refused_subjects (list[RefusedSubject] | None | Unset): With a key that may read: which are refused, and why;
            the first 1,000.
    """

    code: ProblemCode
    detail: str
    errors: list[FieldError]
    refused: Refused
    status: int
    title: str
    type_: str
    emergency_stop: EmergencyStop | None | Unset = UNSET
    ledger: LedgerState | None | Unset = UNSET
    refused_subjects: list[RefusedSubject] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.emergency_stop import EmergencyStop
        from ..models.ledger_state import LedgerState

        code: str = self.code

        detail = self.detail

        errors = []
        for errors_item_data in self.errors:
            errors_item = errors_item_data.to_dict()
            errors.append(errors_item)

        refused = self.refused.to_dict()

        status = self.status

        title = self.title

        type_ = self.type_

        emergency_stop: dict[str, Any] | None | Unset
        if isinstance(self.emergency_stop, Unset):
            emergency_stop = UNSET
        elif isinstance(self.emergency_stop, EmergencyStop):
            emergency_stop = self.emergency_stop.to_dict()
        else:
            emergency_stop = self.emergency_stop

        ledger: dict[str, Any] | None | Unset
        if isinstance(self.ledger, Unset):
            ledger = UNSET
        elif isinstance(self.ledger, LedgerState):
            ledger = self.ledger.to_dict()
        else:
            ledger = self.ledger

        refused_subjects: list[dict[str, Any]] | None | Unset
        if isinstance(self.refused_subjects, Unset):
            refused_subjects = UNSET
        elif isinstance(self.refused_subjects, list):
            refused_subjects = []
            for refused_subjects_type_0_item_data in self.refused_subjects:
                refused_subjects_type_0_item = (
                    refused_subjects_type_0_item_data.to_dict()
                )
                refused_subjects.append(refused_subjects_type_0_item)

        else:
            refused_subjects = self.refused_subjects

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "detail": detail,
                "errors": errors,
                "refused": refused,
                "status": status,
                "title": title,
                "type": type_,
            }
        )
        if emergency_stop is not UNSET:
            field_dict["emergency_stop"] = emergency_stop
        if ledger is not UNSET:
            field_dict["ledger"] = ledger
        if refused_subjects is not UNSET:
            field_dict["refused_subjects"] = refused_subjects

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.emergency_stop import EmergencyStop
        from ..models.field_error import FieldError
        from ..models.ledger_state import LedgerState
        from ..models.refused import Refused
        from ..models.refused_subject import RefusedSubject

        d = dict(src_dict)
        code = check_problem_code(d.pop("code"))

        detail = d.pop("detail")

        errors = []
        _errors = d.pop("errors")
        for errors_item_data in _errors:
            errors_item = FieldError.from_dict(errors_item_data)

            errors.append(errors_item)

        refused = Refused.from_dict(d.pop("refused"))

        status = d.pop("status")

        title = d.pop("title")

        type_ = d.pop("type")

        def _parse_emergency_stop(data: object) -> EmergencyStop | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                emergency_stop_type_0 = EmergencyStop.from_dict(data)

                return emergency_stop_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EmergencyStop | None | Unset, data)

        emergency_stop = _parse_emergency_stop(d.pop("emergency_stop", UNSET))

        def _parse_ledger(data: object) -> LedgerState | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ledger_type_0 = LedgerState.from_dict(data)

                return ledger_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LedgerState | None | Unset, data)

        ledger = _parse_ledger(d.pop("ledger", UNSET))

        def _parse_refused_subjects(
            data: object,
        ) -> list[RefusedSubject] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                refused_subjects_type_0 = []
                _refused_subjects_type_0 = data
                for refused_subjects_type_0_item_data in _refused_subjects_type_0:
                    refused_subjects_type_0_item = RefusedSubject.from_dict(
                        refused_subjects_type_0_item_data
                    )

                    refused_subjects_type_0.append(refused_subjects_type_0_item)

                return refused_subjects_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[RefusedSubject] | None | Unset, data)

        refused_subjects = _parse_refused_subjects(d.pop("refused_subjects", UNSET))

        not_ready = cls(
            code=code,
            detail=detail,
            errors=errors,
            refused=refused,
            status=status,
            title=title,
            type_=type_,
            emergency_stop=emergency_stop,
            ledger=ledger,
            refused_subjects=refused_subjects,
        )

        not_ready.additional_properties = d
        return not_ready

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
