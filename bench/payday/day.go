package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

const (
	currency = money.Currency("NZD")
	// openingMinor is more than any payer can be asked for.
	openingMinor = int64(1_000_000_000_000)
	amountMax    = 100_000 // in minor units
	seed         = 20190925

	// Of sixteen payments hotShare go to a few payees that everybody pays, such as a power
	// company, merchantShare to merchants, and the others from payer to payer.
	hotShare      = 3
	merchantShare = 2
	shares        = 16
	hotPayees     = 10
	merchants     = 100
)

// workload makes the payments of a day one by one, each from its number alone: nothing is kept, so
// that memory does not grow with their number, and every phase can make them again.
type workload struct {
	payers int
	day    time.Time // its midnight, UTC
}

// One payment of the day, without its data.
type order struct {
	number   int
	payer    int
	payee    int // of the accounts of its kind
	to       payeeKind
	minor    int64
	due      time.Time
	dataSeed uint64
}

type payeeKind uint8

const (
	toPayer payeeKind = iota
	toHot
	toMerchant
)

func (w workload) order(number int) order {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	due := time.Duration(random.Int64N(int64(24 * time.Hour))).Truncate(time.Millisecond)
	o := order{
		number: number, payer: random.IntN(w.payers), minor: 1 + random.Int64N(amountMax),
		due: w.day.Add(due), dataSeed: random.Uint64(),
	}
	switch share := random.IntN(shares); {
	case share < hotShare || w.payers == 1:
		o.to, o.payee = toHot, random.IntN(hotPayees)
	case share < hotShare+merchantShare:
		o.to, o.payee = toMerchant, random.IntN(merchants)
	default:
		o.to, o.payee = toPayer, (o.payer+1+random.IntN(w.payers-1))%w.payers
	}
	return o
}

func payerID(i int) ledger.AccountID      { return ledger.AccountID(fmt.Sprintf("payer-%06d", i)) }
func hotID(i int) ledger.AccountID        { return ledger.AccountID(fmt.Sprintf("hot-%03d", i)) }
func merchantID(i int) ledger.MerchantID  { return ledger.MerchantID(fmt.Sprintf("shop-%03d", i)) }
func settlementID(i int) ledger.AccountID { return ledger.AccountID(fmt.Sprintf("till-%03d", i)) }

func (o order) key() string { return "payday-" + strconv.Itoa(o.number) }

func (o order) id() payments.PaymentID { return payments.IDOf(payerID(o.payer), o.key()) }

// request is what the caller sends. Its data, which no compression makes smaller, is written into
// the buffer.
func (o order) request(data []byte) (payments.NewPayment, error) {
	amount, err := money.FromMinor(o.minor, currency)
	n := payments.NewPayment{
		Key: o.key(), AccountID: payerID(o.payer), Amount: amount, At: o.due,
		Description: "Payday order " + strconv.Itoa(o.number), Data: data,
	}
	switch o.to {
	case toHot:
		n.PayeeID = hotID(o.payee)
	case toMerchant:
		n.MerchantID = merchantID(o.payee)
	default:
		n.PayeeID = payerID(o.payee)
	}
	fill(data, o.dataSeed)
	return n, err
}

// fill writes random bytes.
func fill(data []byte, from uint64) {
	source := rand.NewPCG(from, seed)
	for len(data) >= 8 {
		binary.LittleEndian.PutUint64(data, source.Uint64())
		data = data[8:]
	}
	for i := range data {
		data[i] = byte(source.Uint64())
	}
}
