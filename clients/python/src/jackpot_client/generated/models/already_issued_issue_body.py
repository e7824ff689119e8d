from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.problem_code import ProblemCode, check_problem_code
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.field_error import FieldError
    from ..models.issue_body import IssueBody


T = TypeVar("T", bound="AlreadyIssuedIssueBody")


@_attrs_define
class AlreadyIssuedIssueBody:
    """A problem with the user's first issue.

    Attributes:
        code (ProblemCode): What went wrong, for programs; `/problems/{code}` says what to do.
        detail (str): What is wrong this time.
        errors (list[FieldError]): The fields at fault; empty when it is not about fields.
        status (int): The status of the answer.
        title (str): The same for all problems of a code.
        type_ (str): `/problems/` and the code.
        issue (IssueBody | Unset): A request and its result. A field that its result does not use is left out.
    """

    code: ProblemCode
    detail: str
    errors: list[FieldError]
    status: int
    title: str
    type_: str
    issue: IssueBody | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code: str = self.code

        detail = self.detail

        errors = []
        for errors_item_data in self.errors:
            errors_item = errors_item_data.to_dict()
            errors.append(errors_item)

        status = self.status

        title = self.title

        type_ = self.type_

        issue: dict[str, Any] | Unset = UNSET
        if not isinstance(self.issue, Unset):
            issue = self.issue.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "detail": detail,
                "errors": errors,
                "status": status,
                "title": title,
                "type": type_,
            }
        )
        if issue is not UNSET:
            field_dict["issue"] = issue

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.field_error import FieldError
        from ..models.issue_body import IssueBody

        d = dict(src_dict)
        code = check_problem_code(d.pop("code"))

        detail = d.pop("detail")

        errors = []
        _errors = d.pop("errors")
        for errors_item_data in _errors:
            errors_item = FieldError.from_dict(errors_item_data)

            errors.append(errors_item)

        status = d.pop("status")

        title = d.pop("title")

        type_ = d.pop("type")

        _issue = d.pop("issue", UNSET)
        issue: IssueBody | Unset
        if isinstance(_issue, Unset):
            issue = UNSET
        else:
            issue = IssueBody.from_dict(_issue)

        already_issued_issue_body = cls(
            code=code,
            detail=detail,
            errors=errors,
            status=status,
            title=title,
            type_=type_,
            issue=issue,
        )

        already_issued_issue_body.additional_properties = d
        return already_issued_issue_body

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
