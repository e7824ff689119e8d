# 모든 페이지의 한국어 글. `en.ftl`과 이름과 값이 같아야 하며, 테스트가 비교한다.

## 콘솔의 모든 페이지
console = Jackpot 콘솔
skip = 본문으로 건너뛰기
nav = 메뉴
nav-play = 운영
nav-overview = 개요
nav-jackpots = 잭팟
trail = 상위 페이지
signed-in-as = 로그인:
sign-out = 로그아웃
next-page = 다음 페이지
filter = 거르기
filter-none = 모두 보기
n-events = 이벤트 { $count }건
n-entries = 참여 { $count }건

## 로그인
sign-in = 로그인
sign-in-key = API 키
sign-in-key-hint = 역할이 read 또는 operate인 키를 입력하십시오.
sign-in-wrong-key = 없는 키입니다. 전체를 입력했는지, 폐기되지 않았는지 확인하십시오.
sign-in-play-key = play 키는 게임용입니다. 역할이 read 또는 operate인 키를 사용하십시오.
sign-in-where = 서비스가 실행되는 서버에서 키를 만드십시오:

## 오류
failure-no-page = 페이지가 없습니다
failure-no-page-text = 주소가 잘못되었거나 대상이 삭제되었습니다.
failure-form = 양식이 오래되었거나 다른 사이트에서 왔습니다
failure-form-text = 변경된 것은 없습니다. 뒤로 가서 페이지를 새로 고친 뒤 다시 보내십시오.
failure-too-large = 양식이 너무 큽니다
failure-too-large-text = 변경된 것은 없습니다. 이만한 데이터는 API로 보내십시오.
failure-too-many = 시도가 너무 많습니다
failure-too-many-text = 이 주소에서 잘못된 키가 너무 자주 왔습니다. { $seconds }초 뒤에 다시 시도하십시오.
failure-request = 페이지를 표시할 수 없습니다
failure-request-text = 서비스가 페이지를 만들지 못했습니다. 로그에 요청 ID가 있습니다.
failure-sign-out = 아직 로그인되어 있습니다
failure-sign-out-text = 데이터베이스에 연결할 수 없어 다른 인스턴스가 알 수 없습니다. 잠시 뒤 다시 시도하거나 브라우저를 닫으십시오.
failure-request-id = 요청
failure-back = 개요로 가기

## 양식
form-refused = 변경된 것은 없습니다. 다음을 고치십시오:
action-effect = 이 작업이 하는 일
action-final = 되돌릴 수 없습니다.
action-reason = 사유
action-reason-hint = 감사 기록에 남습니다. 1~500자.
action-cancel = 취소
action-changes = 변경 내용
action-what = 항목
action-before = 현재
action-after = 변경 후
action-preview = 변경 내용 보기

## 용어
status = 상태
status-open = 진행 중
status-paused = 일시 중지
status-suspended = 정지됨
status-closed = 종료
tier = 티어
pool = 풀
reserve = 적립금
overflow = 초과금
contributed = 적립 합계
funded = 운영자 충당
paid = 지급 합계
wins = 당첨 횟수
amount = 금액
jackpot = 잭팟
jackpots = 잭팟
meters = 미터

## 개요
overview = 개요
overview-ready = 정상
overview-not-ready = 준비 안 됨
overview-instance = 이 인스턴스
overview-ledger = 원장
overview-ledger-up = 연결됨
overview-ledger-down = 연결 안 됨
overview-lag = 아직 원장에 없음

## 잭팟
jackpots-none = 아직 잭팟이 없습니다.
jackpot-version = 정의 { $version }
pause = 일시 중지
pause-title = { $name } 일시 중지
pause-effect = 잭팟이 새 참여를 받지 않습니다. 이미 추첨된 참여는 마무리되고, 반복 요청에는 응답합니다. 풀은 그대로 남습니다.
done-pause = 잭팟을 일시 중지했습니다.
resume = 재개
resume-title = { $name } 재개
resume-effect = 잭팟이 다시 참여를 받습니다.
done-resume = 잭팟이 열렸습니다.
close = 종료
close-title = { $name } 종료
close-effect = 잭팟이 다시는 참여를 받지 않습니다. 풀은 남고 원장은 계속 읽을 수 있습니다.
done-close = 잭팟을 종료했습니다.

## 조정
adjust = 조정
adjust-title = { $name } 조정
adjust-about = 티어의 풀, 적립금, 초과금에 돈을 넣거나 빼거나 서로 옮깁니다. 어떤 미터도 0보다 작아지지 않습니다.
adjust-from = 보내는 쪽
adjust-to = 받는 쪽
side-outside = 외부
side-pool = 풀
side-reserve = 적립금
side-overflow = 초과금
adjust-amount-hint = 통화 단위로 씁니다. 예: { $example }
adjust-no-tier = 이 잭팟의 티어를 고르십시오.
adjust-no-side = 목록에서 고르십시오.
adjust-same-side = 서로 다른 두 쪽을 고르십시오.
adjust-no-amount = 0보다 큰 금액을 소수점 아래 { $digits }자리까지 쓰십시오.
adjust-effect-fund = 외부에서 { $amount }이 들어옵니다.
adjust-effect-withdraw = { $amount }이 밖으로 나갑니다.
adjust-effect-move = { $amount }이 잭팟 안에서 옮겨집니다.
adjust-moves-on = 잭팟은 계속 진행됩니다. 아래 값은 지금 이 순간의 값입니다.
adjust-do = 조정하기
done-adjust = 조정했습니다.
